"""What is asked for, in which order, and what comes of it."""

import json

import pytest
from msgspec.structs import replace

from planner.errors import InputError, ParseError, SchemaError
from planner.operations.kubectl.call import AT_ONCE, Kubectl
from planner.operations.kubectl.kueue_dump import Dump, take_dump
from planner.operations.kubectl.kueue_resource import OPTIONAL, RESOURCES
from planner.reader import read_objects
from planner.reader.kueue_kinds import KINDS
from planner.reader.settings import TAKEN_AT, written
from planner.state.clock import present
from planner.state.kueue import State
from tests import stand_in
from tests.cli.running import cluster
from tests.conftest import FOR_EVER_S
from tests.stand_in import CONFIGURATION, MANAGER, StandIn, dies, forbidden, no_such_type
from tests.told import told

ALL = ["--all-namespaces", "--output=json"]
IN_NS = ["--namespace=ns", "--output=json"]
MANAGER_CALL = ["get", "deployments.apps", "--namespace=kueue-system", "--output=json"]
CONFIG_CALL = ["get", "configmaps", "--namespace=kueue-system", "--output=json"]


TOPOLOGY = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Topology",
    "metadata": {"name": "default"},
    "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]},
}


def take(**options: object) -> Dump:
    return take_dump(Kubectl(timeout_s=FOR_EVER_S), **options)  # type: ignore[arg-type]


def test_every_kind_that_the_reader_reads_is_asked_for() -> None:
    """Its Configuration is read from the ConfigMap; events tell of the past, not of a plan."""
    kinds = {name for _, name in KINDS} - {"Configuration", "Event"} | {"ConfigMap"}
    expected = {stand_in.RESOURCES[kind] for kind in kinds}
    assert {each.full_name for each in RESOURCES} == expected


def test_groups_are_those_of_the_reader() -> None:
    asked = {name: group for group, name in KINDS if name not in {"Configuration", "Event"}}
    groups = {stand_in.RESOURCES[name]: group for name, group in asked.items()}
    assert {each.full_name: each.group for each in RESOURCES} == {**groups, "configmaps": ""}


def test_calls(kubectl: StandIn) -> None:
    take()
    first, *calls = kubectl.calls()
    assert first == ["get", "workloads.kueue.x-k8s.io", *ALL]  # the others are read after them
    # Without a topology nobody looks at nodes.
    asked = sorted(call[1] for call in (first, *calls))
    assert asked == sorted(set(stand_in.RESOURCES.values()) - {"nodes", "pods"})
    single = [
        [*CONFIG_CALL, "--", "kueue-manager-config"],
        [*MANAGER_CALL, "--", "kueue-controller-manager"],
    ]
    assert all(one in calls for one in single)
    assert all(call[2:] == ALL for call in calls if call not in single)
    assert not any("secret" in word.lower() for call in calls for word in call)


def test_namespace_is_of_what_concerns_the_pending_workload(kubectl: StandIn) -> None:
    take(namespace="ns", without=["configmaps", "deployments"])
    options = {call[1]: call[2:] for call in kubectl.calls()}
    assert options.pop("limitranges") == IN_NS
    assert options.pop("resourceclaimtemplates.resource.k8s.io") == IN_NS
    assert options
    assert all(words == ALL for words in options.values())


def test_configuration_of_another_name(kubectl: StandIn) -> None:
    dump = take(configuration="elsewhere/its-manager-config")
    words = {call[1]: (call[2], call[-1]) for call in kubectl.calls()}
    assert words["configmaps"] == ("--namespace=elsewhere", "its-manager-config")
    assert words["deployments.apps"] == ("--namespace=elsewhere", "kueue-controller-manager")
    manager, note = dump.notes
    told(manager)
    told(note)


@pytest.mark.parametrize("value", ["", "name", "a/", "/b", "a/b/c", "-a/b", "a/-b", "a/b\n", "A/b"])
def test_configuration_is_a_namespace_and_a_name(kubectl: StandIn, value: str) -> None:
    with pytest.raises(InputError, match="--configuration: "):
        take(configuration=value)
    assert kubectl.calls() == []


def test_namespace_that_looks_like_an_option(kubectl: StandIn) -> None:
    with pytest.raises(InputError, match="--namespace: "):
        take(namespace="-A")
    assert kubectl.calls() == []


def test_objects_and_counts(kubectl: StandIn) -> None:
    dump = take()
    assert kubectl.calls()
    assert dump.notes == ()
    assert dump.counts == {
        "workloads": 6,
        "localqueues": 2,
        "clusterqueues": 2,
        "cohorts": 1,
        "resourceflavors": 1,
        **dict.fromkeys(("workloadpriorityclasses", "admissionchecks"), 0),
        **dict.fromkeys(("priorityclasses", "runtimeclasses"), 0),
        **dict.fromkeys(("namespaces", "limitranges", "poddisruptionbudgets"), 0),
        **dict.fromkeys(("deviceclasses", "resourceclaimtemplates", "resourceslices"), 0),
        "topologies": 0,
        **dict.fromkeys(("deployments", "configmaps"), 1),
    }
    expected = [*cluster()["items"], CONFIGURATION, MANAGER]
    key = json.dumps
    assert sorted(map(key, dump.objects)) == sorted(map(key, expected))


def test_text_is_a_list_with_an_object_a_line(kubectl: StandIn) -> None:
    dump = take()
    text = dump.text()
    value = json.loads(text)
    said = {"annotations": {TAKEN_AT: written(dump.taken_at)}}
    items = list(dump.objects)
    assert value == {"apiVersion": "v1", "kind": "List", "metadata": said, "items": items}
    assert value == dump.value()
    assert len(text.splitlines()) == len(dump.objects) + 2
    assert text.isascii()
    assert kubectl.calls()


def test_text_of_nothing() -> None:
    assert json.loads(Dump((), {}, (), present()).text())["items"] == []


def test_state_is_that_of_the_original(kubectl: StandIn) -> None:
    original = read_objects(cluster(), where="taken", digest="0")
    assert isinstance(original, State)
    dump = replace(take(), taken_at=original.now)
    taken = read_objects(dump.value(), where="taken", digest="0")
    assert kubectl.calls()

    def by_name(state: object) -> dict[str, object]:
        fields = dict(vars(state))
        return {
            name: sorted(value, key=str) if isinstance(value, tuple) else value
            for name, value in fields.items()
        }

    assert isinstance(taken, State)
    assert taken.configuration_given  # the stand-in has the ConfigMap, too
    original = original.model_copy(update={"configuration_given": True})
    assert by_name(taken) == by_name(original)


def test_nodes_and_pods_are_asked_for_where_there_is_a_topology(kubectl: StandIn) -> None:
    kubectl.answer("topologies.kueue.x-k8s.io", prints=json.dumps(TOPOLOGY))
    dump = take()
    assert {call[1] for call in kubectl.calls()[-2:]} == {"nodes", "pods"}
    assert (dump.counts["topologies"], dump.counts["nodes"], dump.counts["pods"]) == (1, 0, 0)


@pytest.mark.parametrize("racks", [True, False])
def test_what_may_be_missing_is_a_note(kubectl: StandIn, *, racks: bool) -> None:
    """With a topology, nodes and pods are asked for as well."""
    missing = [
        each
        for each in RESOURCES
        if each.name in OPTIONAL
        and (each.name != "topologies" if racks else each.name == "topologies")
    ]
    for each in missing:
        kubectl.answer(each.full_name, code=1, said=no_such_type(each.full_name))
    if racks:
        kubectl.answer("topologies.kueue.x-k8s.io", prints=json.dumps(TOPOLOGY))
    dump = take()
    for each, note in zip(missing, dump.notes, strict=True):
        assert f": {each.missing}" in note, each
        assert each.name not in dump.counts


def test_type_that_was_just_removed_is_missing(kubectl: StandIn) -> None:
    said = (
        'Error from server (NotFound): Unable to list "kueue.x-k8s.io/v1alpha1, '
        'Resource=cohorts": the server could not find the requested resource '
        "(get cohorts.kueue.x-k8s.io)\n"
    )
    kubectl.answer("cohorts.kueue.x-k8s.io", code=1, said=said)
    assert len(take().notes) == 1


def test_without(kubectl: StandIn) -> None:
    for name in OPTIONAL:
        full_name = next(each.full_name for each in RESOURCES if each.name == name)
        kubectl.answer(full_name, code=1, said=forbidden(full_name))
    dump = take(without=OPTIONAL)
    assert set(dump.counts) == {"workloads", "localqueues", "clusterqueues", "resourceflavors"}
    assert dump.notes == ()


def test_says_what_comes_next(kubectl: StandIn) -> None:
    calls: list[tuple[float, str]] = []
    take(on_call=lambda share, label: calls.append((share, label)))
    labels = [label for _, label in calls]
    assert labels == [each.full_name for each in RESOURCES if not each.needed_by]
    assert sorted(labels) == sorted(call[1] for call in kubectl.calls())
    shares = [share for share, _ in calls]
    assert shares[0] == 0
    assert shares == sorted(set(shares))
    assert shares[-1] < 1


def test_slow_answers_are_awaited_together(kubectl: StandIn) -> None:
    """None of the first answers comes before as many others are asked for as may be at a time."""
    at_once = 1 + AT_ONCE  # the workloads have been read before
    for each in [one for one in RESOURCES if one.phase == 1][:AT_ONCE]:
        kubectl.answer(each.full_name, awaits=at_once)
    dump = take()
    assert list(dump.counts) == [each.name for each in RESOURCES if not each.needed_by]


def test_what_answers_late_stands_in_its_place(kubectl: StandIn) -> None:
    """The first of those that are asked together is the last to answer; the dump is the same."""
    before = take()
    kubectl.answer("localqueues.kueue.x-k8s.io", awaits=2 * len(kubectl.calls()))
    after = take()
    assert replace(after, taken_at=before.taken_at) == before


def test_failure_ends_those_that_still_run(kubectl: StandIn) -> None:
    kubectl.answer("configmaps", sleeps=True)
    kubectl.answer("deployments.apps", code=1, said="error: out of order\n")
    kubectl.answer("cohorts.kueue.x-k8s.io", code=1, said="error: broken\n", awaits="pids")
    with pytest.raises(InputError) as caught:
        take(without=set(OPTIONAL) - {"cohorts", "deployments", "configmaps"})
    told(caught.value)
    assert all(dies(pid) for pid in kubectl.pids())


@pytest.mark.parametrize(
    ("prints", "error"),
    [
        ("", ParseError),
        ("kubectl is now called kc\n", ParseError),
        ('{"kind": "List", "items": [{"kind"', ParseError),
        ('{"kind": "List", "items": 7}', SchemaError),
        ("[1]", SchemaError),
        ('{"items": []}', SchemaError),
        ("[]\n[]\n", ParseError),
        ('{"kind": "List", "items": [NaN]}', ParseError),
        ("[" * 1000, ParseError),
    ],
)
def test_what_is_no_list_of_objects(kubectl: StandIn, prints: str, error: type[InputError]) -> None:
    kubectl.answer("workloads.kueue.x-k8s.io", prints=prints)
    with pytest.raises(error) as raised:
        take()
    told(str(raised.value))


def test_typed_list_will_do(kubectl: StandIn) -> None:
    """Kinds left out in the items of a typed list are those of the list."""
    items = [{"metadata": {"name": "a"}}]
    typed = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "CohortList", "items": items}
    kubectl.answer("cohorts.kueue.x-k8s.io", prints=json.dumps(typed))
    (cohort,) = (each for each in take().objects if each["kind"] == "Cohort")
    assert cohort == {
        "kind": "Cohort",
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "metadata": {"name": "a"},
    }


def test_what_may_be_forgone_does_not_fail_where_it_is_refused(kubectl: StandIn) -> None:
    """PodDisruptionBudgets; any other refusal is an error."""
    kubectl.answer(
        "poddisruptionbudgets.policy",
        code=1,
        said=stand_in.forbidden("poddisruptionbudgets.policy"),
    )
    dump = take()
    assert "poddisruptionbudgets" not in dump.counts
    told(dump.notes)
    kubectl.answer("namespaces", code=1, said=stand_in.forbidden("namespaces"))
    with pytest.raises(InputError, match="is forbidden"):
        take()
