from constructs_pd.planning.rules.pd108_unknown_engine_args import RULE
from support.rules import findings_of


def test_accepts_engine_and_front_end_arguments() -> None:
    assert findings_of(RULE, {"prefill.engine_args": {"block_size": 32, "enable_auto_tool_choice": True}}) == []


def test_refuses_a_name_with_one_letter_missing_and_names_the_right_one() -> None:
    (finding,) = findings_of(RULE, {"decode.engine_args": {"block_siz": 32}})
    assert finding.subject == "decode.engine_args.block_siz"
    assert "0.26.0" in finding.message
    assert "block_size" in finding.remedy


def test_says_so_where_no_name_is_near() -> None:
    (finding,) = findings_of(RULE, {"decode.engine_args": {"zzz": 1}})
    assert finding.remedy.startswith("remove it")


def test_leaves_owned_names_and_unknown_images_to_their_own_rules() -> None:
    assert findings_of(RULE, {"decode.engine_args": {"model": "x"}}) == []
    assert findings_of(RULE, {"decode.engine_args": {"zzz": 1}, "image.tag": "unknown"}) == []
