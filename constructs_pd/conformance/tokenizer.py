"""A model's own tokenizer, where the tokenizers library is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from constructs_pd.conformance.problems import OPTION, EndpointError, short


def token_counter(path: Path) -> Callable[[str], int] | None:
    """Return what counts a text's tokens, None without the library.

    Raises:
        EndpointError: The file is missing or holds no tokenizer.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError:
        return None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises Exception itself, for whatever is wrong
        message = f"{path} cannot be read: {short(str(error))}"
        raise EndpointError(OPTION, "--tokenizer", message, "name the model's tokenizer.json") from None
    return lambda text: len(tokenizer.encode(text).ids)
