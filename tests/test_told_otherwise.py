"""A state that is told otherwise is the same question: names, orders and forms decide nothing.

UIDs and times decide between what is alike, and they stay; so do names of nodes, by which YuniKorn
decides.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import planner
from planner.plan import AnyPlan
from planner.state import AnyState
from tests.recorded import lines as lines_of_kueue
from tests.recorded import state_of
from tests.yunikorn.building import state_of as state_of_yunikorn
from tests.yunikorn.recorded import lines as lines_of_yunikorn
from tests.yunikorn.recorded import step

Line = dict[str, Any]


def renamed(text: str) -> str:
    """Give what is named by a kind and a word the word backwards, in which names sort otherwise."""
    named = r"\b(cq|lq|org|job|app|alloc|ask)-(\w+)"
    return re.sub(named, lambda found: f"{found[1]}-{found[2][::-1]}", text)


def of_older_version(text: str) -> str:
    """Write the objects of Kueue as v1beta1 does."""
    text = text.replace('"kueue.x-k8s.io/v1beta2"', '"kueue.x-k8s.io/v1beta1"')
    text = re.sub(r'("whenCan(Borrow|Preempt)": )"MayStopSearch"', r'\1"\2"', text)
    return text.replace('"cohortName"', '"cohort"')


def in_other_units(text: str) -> str:
    """Write quantities in smaller units."""
    text = re.sub(r'"(\d+)Gi"', lambda found: f'"{int(found[1]) * 1024}Mi"', text)
    return re.sub(r'"(\d+)m"', r'"\g<1>000u"', text)


def backwards(text: str) -> str:
    """Turn lists round whose order says nothing."""
    value: Line = json.loads(text)
    for holder in (value, *value.get("applications", ()), value.get("state", {})):
        for name in ("items", "applications", "allocations"):
            if isinstance(holder.get(name), list):
                holder[name].reverse()
    for one in value.get("state", {}).get("items", ()):
        one.get("status", {}).get("conditions", []).reverse()
    return json.dumps(value)


def answer(state: AnyState, pending: str) -> Iterator[object]:
    """Yield what a plan decides: whom the scheduler takes, in its order, and what is best."""
    plan: AnyPlan = planner.solve(state, pending)
    greedy = plan.greedy
    yield from (plan.status, plan.keys, plan.terms, greedy and (greedy.keys, greedy.terms))
    levels = plan.certificate.levels if plan.certificate else ()
    yield [(level.term, level.value, level.bound) for level in levels]


def same(line: Line, tell: Callable[[str], str], read: Callable[[Line], AnyState]) -> bool:
    """Say whether a line that is told otherwise has the answer of the line."""
    pending = line.get("pending") or line["ask"]["allocationKey"]
    text = json.dumps([*answer(read(line), pending)])
    told = [*answer(read(json.loads(tell(json.dumps(line)))), renamed_if(tell, pending))]
    return json.dumps(told) == renamed_if(tell, text)


def renamed_if(tell: Callable[[str], str], text: str) -> str:
    """Return a text with the other names, where these are what is told otherwise."""
    return renamed(text) if tell is renamed else text


@pytest.mark.parametrize("name", ["edge", "flavors", "fair-hier"])
@pytest.mark.parametrize("tell", [renamed, backwards, of_older_version, in_other_units])
def test_kueue(name: str, tell: Callable[[str], str]) -> None:
    for line in lines_of_kueue(name, 130):
        assert same(line, tell, state_of), line["id"]


@pytest.mark.parametrize("tell", [renamed, backwards])
def test_yunikorn(tell: Callable[[str], str]) -> None:
    """Where the core itself decides the same each time: equal ages have no order."""
    seen = 0
    for line in lines_of_yunikorn("generic", step("generic", 40)):
        if line["expect"]["canonicalUnique"]:
            seen += 1
            assert same(line, tell, state_of_yunikorn), line["id"]
    assert seen
