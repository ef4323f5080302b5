"""Names that stand for nothing, limits that Kueue refuses, amounts in other units."""

from typing import Any

import pytest

import planner
from planner.operations.lint import Lint, lint
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.cli.running import call
from tests.cluster import (
    KUEUE,
    NOW,
    Object,
    admission_check,
    cohort,
    configuration,
    fair_sharing,
    queue,
    running,
)
from tests.operations.lint.kueue_cases import GIBI, RACKS, TWO, asks, listed, looking_for
from tests.reference.cycles import strict
from tests.reference.topology.racks import RACK, flavor, node, pods, room, topology
from tests.reference.topology.racks import waits as pending_pods
from tests.reports import reports
from tests.told import told

ONE = flavor(topology_name="")


def looked(*parts: Any, **said: Any) -> Lint:
    answer = lint(read_kueue_objects(listed(*parts), where="test", now=NOW, **said))
    assert isinstance(answer, Lint)
    return answer


def codes(*parts: Any) -> list[str]:
    return [one.code for one in looked(*parts).findings]


def is_found(code: str, *parts: Any) -> bool:
    """Say whether something is found of a code; its rule alone is asked."""
    with looking_for(code):
        return bool(looked(*parts).findings)


def with_condition(item: list[Object], status: str, reason: str = "Ready") -> list[Object]:
    """Return objects of which the first has a condition Active."""
    condition = {"type": "Active", "status": status, "reason": reason}
    return [{**item[0], "status": {"conditions": [condition]}}, *item[1:]]


BORROWING = (queue("a", 4, "org"), queue("b", 4, "org"))


def test_without_its_flavors_everything_is_found_all_the_same() -> None:
    (found,) = (one for one in looked(*BORROWING, *TWO).findings if one.code == "KL-24")
    assert codes(ONE, *BORROWING, *TWO) == ["KL-03"]
    assert codes(*BORROWING, *TWO) == ["KL-03", "KL-24"]
    assert found.objects == ("resourceflavor/default", "clusterqueue/a", "clusterqueue/b")
    told(found.reason)


def test_a_flavor_that_is_called_almost_so_is_an_error() -> None:
    (found,) = looked(flavor("defualt", ""), queue("a", 4)).findings
    assert (found.code, found.severity) == ("KL-23", "error")
    told(found.hint)
    (found,) = looked(flavor("h100", ""), queue("a", 4)).findings
    assert (found.code, found.severity) == ("KL-24", "warning")


def test_what_kueue_itself_says_counts() -> None:
    """Of an active queue the dump lacks the flavor, of an inactive one the cluster lacks it."""
    active = [with_condition(one, "True") for one in BORROWING]
    assert codes(*active, *TWO) == ["KL-03"]
    inactive = [with_condition(one, "False", "FlavorNotFound") for one in BORROWING]
    answer = looked(*inactive, *TWO)
    assert [one.code for one in answer.findings] == ["KL-24"]
    assert "as if it were there" not in answer.findings[0].reason
    assert sum("its policies were not examined" in note for note in answer.notes) == 2


def checked(name: str) -> list[list[Object]]:
    """Return the queues with an admission check."""
    rules = {"admissionChecksStrategy": {"admissionChecks": [{"name": name}]}}
    return [
        [{**one[0], "spec": {**one[0]["spec"], **rules}}, *one[1:]]
        for one in (queue("a", 4, "org"), queue("b", 4, "org"))
    ]


@pytest.mark.parametrize(
    ("there", "found"),
    [((), ["KL-03", "KL-24"]), (("prov",), ["KL-03"]), (("porv",), ["KL-03", "KL-23"])],
)
def test_admission_checks_of_manifests_keep_nobody_from_looking(
    there: tuple[str, ...], found: list[str]
) -> None:
    """A check that is missing, and one that no controller has looked at yet."""
    kind = {"apiVersion": KUEUE, "kind": "AdmissionCheck", "spec": {"controllerName": "c"}}
    manifests = [{**kind, "metadata": {"name": name}} for name in there]
    assert codes(ONE, manifests, *checked("prov"), *TWO) == found


def test_a_check_that_is_not_active_makes_a_queue_inactive() -> None:
    off = with_condition([admission_check("prov", "c")], "False")
    answer = looked(ONE, off, *checked("prov"), *TWO)
    assert answer.findings == ()
    told(answer.notes[0])


@pytest.mark.parametrize(
    ("name", "found"), [("elsewhere", ["KL-24"]), ("taem", ["KL-23"]), ("team", [])]
)
def test_a_local_queue_leads_somewhere(name: str, found: list[str]) -> None:
    (own, local) = queue("team", 4)
    local["spec"]["clusterQueue"] = name
    assert codes(ONE, [own, local]) == found


def test_a_local_queue_alone_is_not_passed_over() -> None:
    (found,) = looked([queue("team", 4)[1]]).findings
    assert found.objects == ("clusterqueue/team", "localqueue/ns/team")


def test_the_flavor_of_a_cohort_may_be_misspelt_too() -> None:
    quota = cohort("org", nominal=4)
    quota[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "defualt"
    (found,) = looked(ONE, quota, queue("a", 4, "org")).findings
    told((found.code, found.hint))
    assert found.objects == ("resourceflavor/defualt", "cohort/org")
    told(found.reason)
    assert codes(flavor("defualt", ""), ONE, quota, queue("a", 4, "org")) == []


def test_a_cohort_that_nobody_is_in_is_said() -> None:
    parts = (ONE, cohort("reserch", nominal=4), queue("a", 4, "research"))
    said = "Cohort reserch: no ClusterQueue is below it, so its quota was not examined; did you"
    assert any(note.startswith(said) for note in looked(*parts).notes)
    assert not any("Cohort" in note for note in looked(*parts[:2], queue("a", 4, "reserch")).notes)


def test_a_topology_may_be_misspelt() -> None:
    parts = (flavor(topology_name="cd"), *RACKS[2:], topology(name="cdd"), room())
    (found,) = (one for one in looked(*parts).findings if one.code == "KL-22")
    told(found.hint)


def test_the_quota_may_be_in_a_cohort_that_is_not_here() -> None:
    """A Cohort of which there is no object may have one, with quota, in another repository."""
    own = queue("a", 0, "org")
    assert codes(ONE, own) == []
    assert codes(ONE, cohort("org", "top"), own) == []
    assert codes(ONE, cohort("org"), own) == ["KL-10"]
    assert codes(ONE, cohort("org", nominal=1), own) == []
    assert codes(ONE, queue("a", 0)) == ["KL-10"]


def test_where_there_are_no_queues_nothing_was_examined() -> None:
    assert any("no ClusterQueue" in note for note in looked(ONE).notes)
    assert not any("no ClusterQueue" in note for note in looked(ONE, queue("a", 4)).notes)


def test_of_queues_that_the_dump_lacks_nothing_is_said() -> None:
    """Who holds quota in a ClusterQueue shows that it is there, perhaps in the same cohort."""
    parts = (
        ONE,
        cohort("org"),
        queue("poor", 0, "org"),
        queue("a", 4, "lonely", reclaim="Any"),
        queue("mean", 4, "both", reclaim="Any", borrow="LowerPriority", borrowing=0),
        queue("other", 4, "both", reclaim="Any", borrowing=0),
        *TWO,
    )
    about_others = {"KL-10", "KL-11", "KL-13", "KL-14"}
    assert set(codes(*parts)) >= about_others
    assert not about_others & set(codes(*parts, running("w", "elsewhere", 4)))
    alone = (ONE, queue("poor", 0), queue("a", 4, reclaim="Any"), running("w", "elsewhere", 4))
    assert {"KL-10", "KL-11"} <= set(codes(*alone, *TWO))


def test_a_stopped_queue_is_said_not_to_be_examined() -> None:
    answer = looked(ONE, queue("a", 4, "org", stop="Hold"), queue("b", 4, "org"), *TWO)
    told(answer.notes[0])


def test_a_queue_without_quota_is_said_to_have_none() -> None:
    """Such as one whose resourceGroups stand beside its spec."""
    own = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {}}
    assert any("ClusterQueue a has no quota" in note for note in looked(ONE, [own]).notes)
    assert not any("no quota" in note for note in looked(ONE, queue("a", 0)).notes)


def test_what_no_configuration_says_is_not_found() -> None:
    """Weights and boosts do nothing by default; whether the defaults hold is not known."""
    weighted = (ONE, queue("a", 4, "org", weight="2"), queue("b", 4, "org", reclaim="Any"), *TWO)
    assert not is_found("KL-16", *weighted)
    assert is_found("KL-16", configuration(), *weighted)
    # A controller that uses shares would have written one beside the count.
    counted = [{**weighted[1][0], "status": {"pendingWorkloads": 0}}, weighted[1][1]]
    assert is_found("KL-16", ONE, counted, *weighted[2:])
    assert not is_found("KL-16", fair_sharing(), *weighted)
    assert any("no Configuration" in note for note in looked(*weighted).notes)
    assert not any("no Configuration" in note for note in looked(configuration(), *weighted).notes)


def test_a_topology_that_is_looked_at_is_modelled() -> None:
    answer = looked(*RACKS, room(), asks(5))
    assert "KL-20" in {one.code for one in answer.findings}
    assert answer.coverage == ()
    older = looked(*RACKS, room(), asks(5), release="0.16.9")
    assert [one.feature for one in older.coverage] == ["topology"]
    told(older.notes)


def test_who_has_quota_and_no_place_starves_others_too() -> None:
    """The head fits by quota, and in no rack: it stays the head, and nobody behind it starts."""
    head, behind = asks(5), pending_pods(pods("main", 1, {"gpu": 4}, {"required": RACK}))
    head[0]["metadata"] |= {"name": "first", "creationTimestamp": "2026-05-01T12:01:00Z"}
    waits = (head, behind)
    parts = (*RACKS, strict("q", 100, within="LowerPriority"))
    (found,) = (one for one in looked(*parts, *waits).findings if one.code == "KL-19")
    assert found.objects == ("clusterqueue/q", "workload/ns/first", "workload/ns/pending")
    assert not is_found("KL-19", *RACKS, room(), *waits)


@pytest.mark.parametrize(
    ("parts", "lacks"),
    [
        ((flavor(), topology()), "no nodes"),
        ((flavor(), node("n1", "r1", gpu=8)), "no topologies"),
        ((flavor(),), "no nodes and no topologies"),
    ],
)
def test_a_topology_that_is_not_looked_at_is_said(parts: Any, lacks: str) -> None:
    said = f"ResourceFlavor default has a topology, and the input has {lacks}: placement was not"
    assert any(note.startswith(said) for note in looked(*parts, room()).notes)
    assert not any("placement" in note for note in looked(*RACKS, room()).notes)


@pytest.mark.parametrize(
    ("parts", "who"),
    [
        ([queue("a", 4, lending=2)], "clusterqueue/a"),
        ([cohort("c", nominal=4, borrowing=2), queue("a", 0, "c")], "cohort/c"),
        ([cohort("c", nominal=4, borrowing=2, lending=1)], "cohort/c"),
        ([queue("a", 4, "org", lending=5)], "clusterqueue/a"),
    ],
)  # fmt: skip
def test_limits_that_kueue_refuses(parts: Any, who: str) -> None:
    with looking_for("KL-25"):
        (found,) = looked(ONE, *parts).findings
    assert found.objects == (who,)
    told(found.reason)
    assert found.severity == "error"


@pytest.mark.parametrize(
    "parts",
    [
        [queue("a", 4, "org", borrowing=2, lending=4)],
        [cohort("c", "org", nominal=4, borrowing=2, lending=8), queue("a", 0, "c")],
        [cohort("c", nominal=4), queue("a", 0, "c", borrowing=0)],
    ],
)
def test_limits_that_kueue_takes(parts: Any) -> None:
    """A Cohort may have a lending limit above what it owns itself: others below it own more."""
    assert not is_found("KL-25", ONE, *parts)


@pytest.mark.parametrize(
    ("resource", "small", "large"),
    [
        ("cpu", 1, 1000),
        ("cpu", "64m", 64),
        ("cpu", "64m", 128),
        ("memory", 64, 64 * GIBI),
        ("memory", 64, 200 * GIBI),
        ("memory", "64Mi", "64Gi"),
        ("memory", "64M", "64G"),
        ("ephemeral-storage", 100, "1Ti"),
    ],
)
def test_amounts_in_other_units(resource: str, small: Any, large: Any) -> None:
    parts = (queue("a", {resource: small}, "org"), queue("b", {resource: large}, "org"))
    with looking_for("KL-27"):
        (found,) = looked(ONE, *parts, *TWO).findings
    assert found.objects == ("clusterqueue/a", "clusterqueue/b")
    # Nobody compares what is in other trees.
    apart = (queue("a", {resource: small}, "org"), queue("b", {resource: large}, "other"))
    assert not is_found("KL-27", ONE, *apart, *TWO)
    above = (cohort("org", nominal={resource: large}), queue("a", {resource: small}, "org"))
    assert is_found("KL-27", ONE, *above)


@pytest.mark.parametrize(
    ("resource", "small", "large"),
    [
        ("cpu", 0, 1000),
        ("cpu", 1, 999),
        ("cpu", 4, 5000),
        ("cpu", "250m", 300),
        ("memory", "64Gi", "64Ti"),
        ("memory", "64G", "64Gi"),
        ("memory", "512Mi", "100Gi"),
        ("memory", 100, "512Mi"),
        ("gpu", 8, 8000),
        ("nvidia.com/gpu", 1, 1024),
    ],
)
def test_amounts_that_may_be_meant(resource: str, small: Any, large: Any) -> None:
    parts = (queue("a", {resource: small}, "org"), queue("b", {resource: large}, "org"))
    assert not is_found("KL-27", ONE, *parts, *TWO)


def test_a_limit_on_borrowing_may_stand_for_any_number() -> None:
    """As in kubernetes-sigs/kueue#13607, where 10,000 cores may be borrowed beside 10 owned."""
    lent = queue("b", {"cpu": 200}, "org")
    limited = queue("a", {"cpu": 10}, "org", borrowing={"cpu": 10_000})
    assert not is_found("KL-27", ONE, lent, limited)
    assert is_found("KL-27", ONE, lent, limited, queue("c", {"cpu": 10_000}, "org"))
    bytes_of = queue("a", {"memory": 64}, "org", borrowing={"memory": 64 * 2**30})
    assert is_found("KL-27", ONE, bytes_of)


GROUP = """
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: gpu-pool
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 8}
"""


def manifest(name: str, version: str, **fields: str) -> str:
    fields |= {"namespaceSelector": "{}"}
    rows = "".join(f"  {field}: {value}\n" for field, value in fields.items())
    head = f"apiVersion: kueue.x-k8s.io/{version}\nkind: ClusterQueue\n"
    return f"{head}metadata: {{name: {name}}}\nspec:\n{rows}{GROUP[1:]}"


OTHERS = """\
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: kueue}
spec: {project: default}
"""
FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: gpu-pool}
"""


def indented(text: str) -> str:
    return "- " + text.replace("\n", "\n  ").rstrip() + "\n"


V1 = (manifest("a", "v1beta1", cohort="pool"), manifest("b", "v1beta1", cohort="pool"))
V2 = (manifest("a", "v1beta2", cohortName="pool"), manifest("b", "v1beta2", cohortName="pool"))
LOWER = (
    manifest("a", "v1beta2", cohortName="pool",
             preemption="{withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}"),
    manifest("b", "v1beta2", cohortName="pool",
             preemption="{withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}"),
)  # fmt: skip
FORMS = {
    "v1beta1": "---\n".join(V1),
    "v1beta2": "---\n".join(V2),
    "both": "---\n".join((V1[0], V2[1])),
    "comments and empty documents": "# quota\n---\n" + "\n---\n---\n".join(V2) + "---\n",
    "other kinds beside": "---\n".join((OTHERS, *V2)),
    "a list": "apiVersion: v1\nkind: List\nitems:\n" + "".join(map(indented, V2)),
    "a typed list": "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueueList\nitems:\n"
    + "".join(map(indented, V1)),
    "a list among documents": "---\n".join(
        (OTHERS, "apiVersion: v1\nkind: List\nitems:\n" + "".join(map(indented, V1)))
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_manifests_as_people_write_them(form: str) -> None:
    """Whatever form they have, they are the same queues."""
    one, other = (planner.read(FORMS[each].encode(), now=NOW) for each in (form, "v1beta2"))
    assert isinstance(one, State)
    assert isinstance(other, State)
    assert (one.cluster_queues, one.cohorts) == (other.cluster_queues, other.cohorts)
    assert len(one.cluster_queues) == 2


def test_manifests_without_flavors() -> None:
    """A warning, and what is found with them."""
    text = FORMS["v1beta1"]
    bare = call("lint", "-", "--fail-on", "warning", "--format", "plain", stdin=text)
    assert bare.exit_code == 1
    assert "finding          KL-03 warning" in bare.stdout
    assert "finding          KL-24 warning" in bare.stdout
    whole = call("lint", "-", "--format", "plain", stdin=f"{text}\n---\n{FLAVOR}")
    rest = [one for one in bare.stdout.splitlines() if "KL-24" not in one]
    assert [one for one in rest if "KL-" in one] == [
        one for one in whole.stdout.splitlines() if "KL-" in one
    ]


def test_priorities_that_stand_elsewhere_are_no_finding() -> None:
    text = "---\n".join((*LOWER, FLAVOR))
    answer = call("lint", "-", "--fail-on", "warning", "--format", "plain", stdin=text)
    assert answer.exit_code == 0
    assert "findings         0" in answer.stdout
    told(answer.stderr)


@pytest.mark.parametrize(
    ("name", "code", "finds"),
    [
        ("lint-clusterqueues-without-flavors", 1, ["KL-03", "KL-24"]),
        ("lint-kl06-without-any-priority", 0, []),
    ],
)
def test_reports(name: str, code: int, finds: list[str]) -> None:
    folder = reports()
    if folder is None:
        pytest.skip("no folder of reports: set PLANNER_REPORTS")
    file = folder / "kueue" / name / "dump.yaml"
    answer = call("lint", str(file), "--fail-on", "warning", "--format", "plain")
    assert answer.exit_code == code
    found = [one.split()[1] for one in answer.stdout.splitlines() if one.startswith("finding ")]
    assert found == finds
