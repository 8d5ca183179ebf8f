"""The list of rules as a whole."""

import re
from pathlib import Path

from constructs_pd.planning import rules
from constructs_pd.planning.rules import RULES

FILES = sorted(Path(rules.__file__).parent.glob("pd*.py"))
TESTS = Path(__file__).parent


def test_every_rule_file_stands_in_the_list_in_the_order_of_its_code() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == [file.name[:5].upper() for file in FILES]
    assert len(set(codes)) == len(codes)


def test_every_rule_has_its_own_test_file() -> None:
    assert [file.name for file in FILES] == sorted(
        file.name.removeprefix("test_") for file in TESTS.glob("test_pd*.py")
    )


def test_every_rule_says_what_why_and_where_from() -> None:
    for rule, file in zip(RULES, FILES, strict=True):
        assert re.fullmatch(r"PD[1-4]\d\d", rule.code)
        assert min(len(rule.title), len(rule.rationale)) > 20
        assert rule.source
        assert file.read_text(encoding="utf-8").startswith(f'"""{rule.code}: ')
