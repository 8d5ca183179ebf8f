import pytest

from constructs_pd.planning.owned import ENGINE_ARGUMENTS
from constructs_pd.planning.rules.pd107_owned_engine_args import RULE
from support.rules import findings_of


def test_accepts_arguments_that_are_free() -> None:
    assert findings_of(RULE, {"prefill.engine_args": {"block_size": 32}}) == []


@pytest.mark.parametrize("name", ENGINE_ARGUMENTS)
def test_refuses_each_argument_that_has_its_own_place(name: str) -> None:
    (finding,) = findings_of(RULE, {"decode.engine_args": {name: 2}})
    assert finding.subject == f"decode.engine_args.{name}"
    assert finding.remedy == ENGINE_ARGUMENTS[name]


def test_pipeline_parallelism_and_other_connectors_are_refused_with_the_reason() -> None:
    findings = findings_of(
        RULE,
        {
            "prefill.engine_args": {"pipeline_parallel_size": 2},
            "decode.engine_args": {"kv_transfer_config": {"kv_connector": "NixlPushConnector"}},
        },
    )
    assert "pipeline" in findings[0].remedy
    assert "NixlPushConnector" in findings[1].remedy
    assert "LMCache" in findings[1].remedy


def test_every_owned_name_is_one_that_vllm_knows() -> None:
    from constructs_pd.planning.catalog import load_catalog

    row = load_catalog().engine_arguments["0.26.0"]
    assert set(ENGINE_ARGUMENTS) <= row.engine | row.frontend
