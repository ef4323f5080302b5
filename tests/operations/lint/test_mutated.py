"""Damaged dumps: findings or a clean error, never a bug of ours."""

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from planner.operations.lint.lint import KINDS
from planner.reader.kueue import read_kueue_objects
from tests.conftest import examples
from tests.fuzz import structure
from tests.operations.lint.kueue_cases import CASES
from tests.reader.test_damaged import SEEDS, printed

DUMPS = [dump for case in CASES for dump in (case.found, case.clean)]


@examples(20)
@given(SEEDS, st.sampled_from(["table", "plain", "json"]))
def test_findings_or_a_clean_error(seed: int, style: str) -> None:
    chance = Random(seed)  # noqa: S311 - no secret depends on it
    code, text = printed(("lint",), structure.damage(chance.choice(DUMPS), chance), style)
    assert code in {0, 1, 2}
    if style == "json" and code < 2:
        for found in json.loads(text)["findings"]:
            assert found["code"] in KINDS
            read_kueue_objects(found["example"]["state"], where="example")
