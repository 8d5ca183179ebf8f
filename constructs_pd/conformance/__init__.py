"""Checks of a live OpenAI-compatible endpoint, whatever serves it."""

try:
    import httpx  # noqa: F401
    import openai  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"the conformance checks need {error.name}: pip install 'constructs-pd[conformance]'", name=error.name
    ) from None
