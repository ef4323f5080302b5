"""Findings that do not count: by code, by annotation, and by an earlier answer."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from planner.errors import SchemaError
from planner.operations.lint import Lint, lint
from planner.operations.lint.lint import Ignored
from planner.operations.report.sarif import sarif
from planner.reader.kueue import read_kueue_objects
from tests.cluster import NOW, Object, cohort, queue
from tests.operations.lint.kueue_cases import CASES, TWO, listed, looking_for
from tests.told import told

IGNORE = "preemption-planner.io/lint-ignore"
FOUND = next(case.found for case in CASES if case.code == "KL-01")


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with looking_for("KL-01", "KL-11", "KL-18", "KL-20", "KL-22", "KL-24", "KL-25"):
        yield


def looked(value: Any, **how: Any) -> Lint:
    answer = lint(read_kueue_objects(value, where="test", now=NOW), **how)
    assert isinstance(answer, Lint)
    return answer


def marked(things: list[Object], kind: str, codes: str) -> list[Object]:
    """Return objects of which those of a kind have the annotation, beside others of theirs."""
    made = copy.deepcopy(things)
    for one in made:
        if one["kind"] == kind:
            one["metadata"].setdefault("annotations", {})[IGNORE] = codes
    return made


def alone(*names: str, codes: str = "") -> Object:
    """Return ClusterQueues of which each is alone in its cohort: KL-11 is found of each."""
    queues = [queue(name, 4, f"of-{name}", reclaim="Any") for name in names]
    first = marked(queues[0], "ClusterQueue", codes) if codes else queues[0]
    return listed(first, *queues[1:], *TWO)


@cache
def plain(*names: str) -> Lint:
    return looked(alone(*names))


def found(answer: Lint) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.code, one.objects) for one in answer.findings]


def ignored(answer: Lint) -> list[tuple[str, str]]:
    return [(one.code, one.by) for one in answer.ignored]


def test_codes_that_are_named_do_not_count() -> None:
    every = looked(FOUND)
    answer = looked(FOUND, ignore=["KL-01"])
    assert "KL-01" in {one.code for one in every.findings}
    assert found(answer) == [one for one in found(every) if one[0] != "KL-01"]
    assert set(ignored(answer)) == {("KL-01", "option")}
    assert f"{len(answer.ignored)} ignored" in repr(answer)


@pytest.mark.parametrize("code", ["KL-1", "KL-99", "", "kl-01"])
def test_other_codes_are_refused(code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        looked(FOUND, ignore=[code])
    told(caught.value)
    assert caught.value.where == "ignore"


def test_one_text_is_no_list_of_codes() -> None:
    with pytest.raises(SchemaError) as caught:
        looked(FOUND, ignore="KL-01")
    told(caught.value)


@pytest.mark.parametrize("codes", ["KL-11", " KL-01 , KL-11,", "KL-99,KL-11"])
def test_an_annotation_holds_for_its_object_alone(codes: str) -> None:
    before, answer = plain("a", "b"), looked(alone("a", "b", codes=codes))
    of_a = [one for one in found(before) if one == ("KL-11", ("clusterqueue/a",))]
    assert of_a
    assert found(answer) == [one for one in found(before) if one not in of_a]
    assert ignored(answer) == [("KL-11", "annotation")]
    strange = [note for note in answer.notes if IGNORE in note]
    assert ["KL-99" in note for note in strange] == [True] * ("KL-99" in codes)


def test_an_annotation_with_another_code_changes_nothing() -> None:
    assert found(looked(alone("a", codes="KL-10"))) == found(plain("a"))


NOWHERE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "main", "namespace": "team"},
    "spec": {"clusterQueue": "nowhere"},
}
LIMITED = listed(cohort("root", nominal=4, borrowing=1), queue("a", 4, "root"), *TWO)
OTHERS = {
    ("KL-18", "Workload"): None,
    ("KL-20", "Workload"): None,
    ("KL-22", "ResourceFlavor"): None,
    ("KL-24", "LocalQueue"): listed([NOWHERE], queue("a", 4), *TWO),
    ("KL-25", "Cohort"): LIMITED,
}


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_objects_of_other_kinds_may_be_annotated(code: str, kind: str) -> None:
    case = next(one.found for one in CASES if one.code == code)
    state = OTHERS[code, kind] or case
    before = looked(state)
    answer = looked({**state, "items": marked(state["items"], kind, code)})
    of_kind = [
        (its, names)
        for its, names in found(before)
        if its == code and any(name.startswith(f"{kind.lower()}/") for name in names)
    ]
    assert of_kind
    assert ignored(answer) == [(code, "annotation")] * len(of_kind)
    assert found(answer) == [one for one in found(before) if one not in of_kind]


def test_what_a_baseline_has_does_not_count_again() -> None:
    before = plain("a")
    answer = looked(alone("a", "b"), baseline=before)
    known = found(before)
    assert known
    assert found(answer) == [one for one in found(plain("a", "b")) if one not in known]
    assert ("KL-11", ("clusterqueue/b",)) in found(answer)
    assert {by for _, by in ignored(answer)} == {"baseline"}


def test_an_answer_with_a_baseline_is_a_baseline() -> None:
    """So the next run need not keep the first one; words and amounts do not count."""
    first = looked(FOUND, ignore=["KL-01"])
    second = looked(FOUND, baseline=first)
    assert not second.findings
    read = Lint.model_validate_json(second.model_dump_json())
    changed = [one.model_copy(update={"reason": "told otherwise"}) for one in read.ignored]
    again = looked(FOUND, baseline=read.model_copy(update={"ignored": tuple(changed)}))
    assert not again.findings
    assert len(again.ignored) == len(second.ignored)


def test_what_is_no_answer_is_no_baseline() -> None:
    with pytest.raises(SchemaError) as caught:
        looked(FOUND, baseline={})
    told(caught.value)


def test_of_findings_alike_one_more_counts() -> None:
    """Two of a kind about the same objects: a baseline with one of them leaves the other."""
    one = looked(FOUND).findings[0]
    twice = looked(FOUND).model_copy(update={"findings": (one, one)})
    once = twice.model_copy(update={"findings": (one,)})
    from planner.operations.lint.lint import identities  # noqa: PLC0415 - the rule itself

    assert len(set(identities(twice.findings))) == 2
    assert set(identities(once.findings)) < set(identities(twice.findings))


def test_of_findings_alike_each_keeps_its_fingerprint_where_a_baseline_has_one() -> None:
    """Else the one that was accepted would count as found anew, and the new one as accepted."""
    first = looked(FOUND).findings[0]
    both = looked(FOUND).model_copy(update={"findings": (first, first)})
    known = Ignored(**dict(first), by="baseline")
    one = both.model_copy(update={"findings": (first,), "ignored": (known,)})
    before, after = (
        json.loads(sarif(each, {}, "", ""))["runs"][0]["results"] for each in (both, one)
    )
    prints = [[result["partialFingerprints"] for result in some] for some in (before, after)]
    assert prints[0] == prints[1]
    assert ["suppressions" in result for result in after] == [True, False]
