"""What fails because a Ray node ended names that node."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import pytest

from constructs_pd.rehearsal import rehearse
from constructs_pd.rehearsal.dashboard import Dashboard
from constructs_pd.rehearsal.engines import engine
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.exchange import NoAnswerError
from constructs_pd.rehearsal.local_ray import LocalRay, RayNode
from constructs_pd.rehearsal.nodes import PlannedNode
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised
from support.specs import plan_with


@pytest.fixture
def supervised() -> Iterator[Supervised]:
    with Supervised() as running:
        yield running


def meet(supervised: Supervised, program: str, error: Exception) -> None:
    """Meet an error while the only node runs a program."""
    process = supervised.start([sys.executable, "-c", program], {}, "decode-0")
    while program.startswith("print") and supervised.runs(process):
        pass
    node = RayNode(PlannedNode("decode-0", "decode", 1, 0, 1, {}, {}, {}), 1, process, (), {})
    with rehearse.ended_nodes_named(LocalRay({"d": node}, Dashboard(1)), supervised):
        raise error


@pytest.mark.parametrize("error", [RehearsalError("no node offers pd-ingress", "see"), NoAnswerError("refused")])
def test_a_node_that_ended_is_the_reason(error: Exception, supervised: Supervised) -> None:
    with pytest.raises(RehearsalError, match=r"Ray's node decode-0 ended:\nits last words"):
        meet(supervised, "print('its last words')", error)


def test_otherwise_the_error_stands(supervised: Supervised) -> None:
    with pytest.raises(RehearsalError, match="no node offers pd-ingress"):
        meet(supervised, "import time; time.sleep(600)", RehearsalError("no node offers pd-ingress", "see"))


def test_a_dashboard_that_does_not_answer_is_no_traceback(supervised: Supervised) -> None:
    sleeps = "import time; time.sleep(600)"
    with pytest.raises(RehearsalError, match="Ray does not answer: refused"):
        meet(supervised, sleeps, NoAnswerError("refused"))


def test_the_port_that_is_asked_for_is_nobody_elses(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_out: list[list[range]] = []

    def free_range(size: int, without: Iterable[range]) -> range:
        kept_out.append(list(without))
        return range(22_000, 22_000 + size)

    monkeypatch.setattr(rehearse, "free_range", free_range)
    planned, options = plan_with(), Options("mock", port=21_000)
    mock = engine("mock", planned.versions.vllm)
    document = rehearse.local_document(planned, options, mock, supervised, Steps(lambda text: None))
    assert document["http_options"]["port"] == 21_000
    assert kept_out == [[range(21_000, 21_001)], [range(21_000, 21_001), range(22_000, 22_001)]]
