"""Random mutations of dumps: an answer or a clean error, never a bug of ours."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import another_pending, call, cluster
from tests.cluster import NOW, configuration, running
from tests.conftest import examples
from tests.recorded import lines as recorded_lines
from tests.recorded import path_of

ANSWERS = {0, 2, 3, 6}
"""A mutated dump may lack a ClusterQueue that it names: then the plan is conditional."""

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([2**31, 2**63, 10**30, -(2**63)]),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(["", "0", "-1", "1Gi", "9E", "Any", "Never", "lender", "borrower", "all"]),
    st.sampled_from(["gpu", "pods", "True", NOW, "ns", "\u202e\x1b[2J"]),
    st.sampled_from([[], {}, [None], [[]], {"a": {}}]),
)


def dumps() -> list[dict[str, Any]]:
    """Return small dumps of several kinds, the recorded ones where there are any."""
    own = cluster(
        running("mine", "lender", 1, evicted=True), configuration(featureGates={}), asks=5
    )
    mixed = [own, cluster(another_pending("second", "borrower"))]
    for name in ("small-classical-hier", "small-flavors", "small-edge"):
        if path_of(name):
            lines = recorded_lines(name)
            mixed += [line["state"] for _, line in zip(range(12), lines, strict=False)]
    return mixed


DUMPS = dumps()


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in a JSON value but the value itself."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a dump with one to three places replaced, removed, repeated or swapped."""
    dump: dict[str, Any] = deepcopy(draw(st.sampled_from(DUMPS)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(paths(dump))
        *steps, last = draw(st.sampled_from(places))
        at: Any = dump
        for step in steps:
            at = at[step]
        match draw(st.sampled_from(["replace", "remove", "repeat", "swap"])):
            case "replace":
                at[last] = draw(VALUES)
            case "remove":
                del at[last]
            case "repeat" if isinstance(at, list):
                at.append(deepcopy(at[last]))
            case _:
                other: Any = dump
                for step in draw(st.sampled_from(places)):
                    if not isinstance(other, dict | list):
                        break
                    if isinstance(other, list) and not (
                        isinstance(step, int) and step < len(other)
                    ):
                        break
                    other = other.get(step) if isinstance(other, dict) else other[step]
                at[last] = deepcopy(other)
    return dump


@examples(100)
@given(mutated(), st.sampled_from(["table", "plain", "json"]))
def test_solve_gives_an_answer_or_a_clean_error(dump: dict[str, Any], style: str) -> None:
    result = call("solve", "-", "--all", "--format", style, stdin=json.dumps(dump))
    assert result.exit_code in ANSWERS, result.stderr
    assert "Traceback" not in result.stderr
    text = (result.stdout + result.stderr).replace("\n", "")
    assert text.isprintable()
