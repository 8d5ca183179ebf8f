"""How to rehearse."""

from __future__ import annotations

from dataclasses import dataclass

from constructs_pd.rehearsal.engines import EngineName


@dataclass(frozen=True)
class Options:
    """How to rehearse.

    Attributes:
        engine: `vllm`, the real one, or `mock`.
        port: Where Serve listens; none: a free port.
        timeout_seconds: How long a deployment may take, in seconds.
        plant: A fault to plant, one of FAULTS; none: none.
        lose: What to kill while clients ask, each one of LOSSES, one after the other.
        hold: Whether to go on serving until Ctrl-C, instead of comparing with an aggregated engine.
    """

    engine: EngineName = "vllm"
    port: int | None = None
    timeout_seconds: float = 900.0
    plant: str | None = None
    lose: tuple[str, ...] = ()
    hold: bool = False
