"""Random mutations of dumps: findings or a clean error, never a bug of ours."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.operations.lint.lint import KINDS
from planner.reader.kueue import read_kueue_objects
from tests.cli.running import call
from tests.cli.test_mutated import VALUES, paths
from tests.conftest import examples
from tests.operations.lint.kueue_cases import CASES

DUMPS = [dump for case in CASES for dump in (case.found, case.clean)]


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a cluster of the cases with one to three values replaced or removed."""
    dump: dict[str, Any] = deepcopy(draw(st.sampled_from(DUMPS)))
    for _ in range(draw(st.integers(1, 3))):
        *steps, last = draw(st.sampled_from(list(paths(dump))))
        at: Any = dump
        for step in steps:
            at = at[step]
        if draw(st.booleans()):
            at[last] = draw(VALUES)
        else:
            del at[last]
    return dump


@examples(60)
@given(mutated(), st.sampled_from(["table", "plain", "json"]))
def test_findings_or_a_clean_error(dump: dict[str, Any], style: str) -> None:
    result = call("lint", "-", "--format", style, stdin=json.dumps(dump))
    assert result.exit_code in {0, 1, 2}, result.stderr
    assert "Traceback" not in result.stderr
    assert (result.stdout + result.stderr).replace("\n", "").isprintable()
    if style == "json" and result.exit_code < 2:
        for found in json.loads(result.stdout)["findings"]:
            assert found["code"] in KINDS
            read_kueue_objects(found["example"]["state"], where="example")
