"""Of which phases a recording rule says something."""

from __future__ import annotations

#: Rules of one phase, because the other does not do what they are about.
DECODE_ALONE = {
    "phase:itl_seconds:quantile5m",
    "phase:hand_over_seconds:quantile5m",
    "phase:hand_overs_per_second:rate5m",
    "phase:hand_over_bytes_per_second:rate5m",
    "phase:hand_over_link:ratio5m",
    "phase:hand_over_slow:ratio5m",
    "phase:recomputed_prompt:ratio5m",
}


def phases_of(record: str) -> set[str]:
    """Return the phases of which a rule must say something."""
    if record.startswith("endpoint:"):
        return set()
    if record in DECODE_ALONE or record.startswith("phase:itl_slow"):
        return {"decode"}
    return {"prefill", "decode"} | ({"head"} if record == "phase:pods_scraped:count" else set())
