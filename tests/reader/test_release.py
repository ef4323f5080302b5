"""Which release of Kueue a dump tells, and what that means for feature gates."""

from typing import Any

import pytest

from planner.errors import InputError
from planner.reader import read_objects
from planner.state.kueue import State
from planner.state.kueue_release import KnownBy
from tests.cli.running import cluster
from tests.cluster import configuration
from tests.told import told

Object = dict[str, Any]


def deployment(image: str, *args: str, labels: dict[str, str] | None = None) -> Object:
    """Return the Deployment of Kueue's manager."""
    container = {"name": "manager", "image": image, "args": list(args)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "kueue-controller-manager",
            "namespace": "kueue-system",
            "creationTimestamp": "2031-01-01T00:00:00Z",
            "labels": labels or {},
        },
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def chart(version: str) -> dict[str, str]:
    """Return the labels that Kueue's chart gives to everything."""
    return {
        "app.kubernetes.io/name": "kueue",
        "app.kubernetes.io/version": f"v{version}",
        "helm.sh/chart": f"kueue-{version}",
    }


def state_of(*objects: Object, release: str = "auto") -> State:
    """Read a cluster with some objects more."""
    value = cluster()
    value["items"] += objects
    found = read_objects(value, where="dump", release=release)
    assert isinstance(found, State)
    return found


def release_of(*objects: Object, release: str = "auto") -> tuple[str, KnownBy]:
    """Return the release of a cluster with some objects more, and how it is known."""
    configured = state_of(*objects, release=release).configuration
    return configured.release.name, configured.release_known_by


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("registry.k8s.io/kueue/kueue:v0.17.8", ("0.17.8", "image")),
        ("mirror.example.com:5000/team/kueue:v0.18.6@sha256:00ff", ("0.18.6", "image")),
        ("kueue:0.16.9-gke.1", ("0.16.9", "image")),
        ("registry.k8s.io/kueue/kueue@sha256:00ff", ("main", "assumed")),
        ("registry.k8s.io/kueue/kueue:latest", ("main", "assumed")),
    ],
)
def test_the_image_of_the_manager_tells_the_release(image: str, release: object) -> None:
    assert release_of(deployment(image)) == release


def test_labels_of_the_chart_tell_the_release() -> None:
    labelled = deployment("registry.example.com/kueue:ours", labels=chart("0.16.4"))
    assert release_of(labelled) == ("0.16.4", "labels")
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "workloads.kueue.x-k8s.io", "labels": chart("0.15.3")},
    }
    assert release_of(definition) == ("0.15.3", "labels")
    text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "labels": chart("0.18.2")},
        "data": {"controller_manager_config.yaml": text},
    }
    assert release_of(settings) == ("0.18.2", "labels")


def test_other_deployments_say_nothing() -> None:
    other = deployment("registry.example.com/other:v1.2.3", labels={"helm.sh/chart": "other-1.2.3"})
    other["metadata"]["name"] = "other"
    assert release_of(other) == ("main", "assumed")


def test_the_clock_is_not_taken_from_the_deployment() -> None:
    assert state_of(deployment("kueue:v0.17.8")).now.year < 2031


def test_who_disagrees_is_named() -> None:
    both = state_of(deployment("kueue:v0.17.8", labels=chart("0.17.2")))
    assert both.release.name == "0.17.8"
    told(both.notes)
    given = state_of(deployment("kueue:v0.17.8"), release="0.18.6")
    assert (given.release.name, given.configuration.release_known_by) == ("0.18.6", "given")
    told(given.notes)
    assert not any("Kueue" in note for note in state_of(deployment("kueue:v0.17.8")).notes)


def test_a_recorded_instance_names_its_release() -> None:
    line = {"state": cluster(), "now": "2026-01-01T00:00:00Z", "release": "0.16.9"}
    found = read_objects(line, where="line")
    assert isinstance(found, State)
    assert (found.release.name, found.configuration.release_known_by) == ("0.16.9", "recorded")


def test_gates_tell_a_bound() -> None:
    """The buffer was dropped after 0.19, lendingLimit may be switched off up to 0.16 only."""
    buffer = configuration(featureGates={"SchedulerTimestampPreemptionBuffer": True})
    assert release_of(*buffer) == ("0.19.2", "gates")
    assert release_of(*configuration(featureGates={"LendingLimit": False})) == ("0.16.9", "gates")


@pytest.mark.parametrize(
    ("gate", "value", "release"),
    [
        ("NoSuchGate", True, "auto"),
        ("NoSuchGate", True, "0.16.9"),
        ("LendingLimit", False, "0.17.8"),
        ("LendingLimit", False, "0.19.2"),
        ("PriorityBoost", True, "0.16.9"),
        ("FlavorFungibilityImplicitPreferenceDefault", True, "0.18.6"),
    ],
)
def test_gates_that_a_release_refuses(gate: str, value: bool, release: str) -> None:  # noqa: FBT001
    with pytest.raises(InputError) as caught:
        state_of(*configuration(featureGates={gate: value}), release=release)
    told(str(caught.value))


def test_a_refused_gate_is_told_with_its_place() -> None:
    gates = "featureGates: {NoSuchGate: true}"
    text = f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{gates}\n"
    data = {"controller_manager_config.yaml": text}
    said = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}
    for part in (said, deployment("kueue:v0.18.6", "--feature-gates=NoSuchGate=true")):
        with pytest.raises(InputError) as caught:
            state_of(part)
        told(str(caught.value))


def test_arguments_of_the_manager_are_the_gates() -> None:
    flag = "--feature-gates=PartialAdmission=false,PriorityBoost=true"
    found = state_of(deployment("kueue:v0.18.6", "--config=/x", flag))
    assert not found.configuration.gate("PartialAdmission")
    assert found.configuration.gate("PriorityBoost")
    both = state_of(
        deployment("kueue:v0.18.6", flag), *configuration(featureGates={"AllBeta": True})
    )
    assert both.configuration.feature_gates == {"PartialAdmission": False, "PriorityBoost": True}
    told(both.notes)


BOOST, NO_BOOST = "PriorityBoost=true", "PriorityBoost=false"


@pytest.mark.parametrize(
    ("command", "arguments", "on"),
    [
        ([], ["--feature-gates", BOOST], True),
        ([], [f"-feature-gates={BOOST}"], True),
        ([], ["-feature-gates", BOOST, "--config=/x"], True),
        (["/manager", f"--feature-gates={BOOST}"], [], True),
        (["/manager", f"--feature-gates={BOOST}"], [f"--feature-gates={NO_BOOST}"], False),
        ([], [f"--feature-gates={NO_BOOST}", f"--feature-gates={BOOST}"], True),
        ([], ["--feature-gates=PartialAdmission=false", f"--feature-gates={BOOST}"], True),
        ([], [f"--feature-gates={BOOST}", "--feature-gates="], False),
        ([], ["--config=/x", "--feature-gates"], False),
        ([], [f"--other-feature-gates={BOOST}"], False),
    ],
)
def test_arguments_are_read_as_the_manager_reads_them(
    command: list[str], arguments: list[str], *, on: bool
) -> None:
    manager = deployment("kueue:v0.18.6", *arguments)
    manager["spec"]["template"]["spec"]["containers"][0]["command"] = command
    found = state_of(manager).configuration
    assert (found.gate("PriorityBoost"), found.gate("PartialAdmission")) == (on, True)


def test_gates_that_are_empty_leave_those_of_the_configuration() -> None:
    found = state_of(
        deployment("kueue:v0.18.6", "--feature-gates="),
        *configuration(featureGates={"PriorityBoost": True}),
    )
    assert found.configuration.feature_gates == {"PriorityBoost": True}
    assert not any("feature gates" in note for note in found.notes)


def test_releases_whose_rules_are_not_known() -> None:
    with pytest.raises(InputError) as caught:
        state_of(deployment("kueue:v0.14.1"))
    told(caught.value)
    newer = state_of(deployment("kueue:v0.18.9"), *configuration(featureGates={"NotYetSeen": True}))
    assert newer.release.name == "0.18.9"
    told(newer.notes)
    with pytest.raises(InputError) as raised:
        state_of(release="0.18")
    told(raised.value)
    assert not raised.value.hint  # to name another is what was done


def test_a_release_is_named_by_a_text() -> None:
    number: Any = 0.18
    with pytest.raises(InputError) as caught:
        state_of(release=number)
    told(caught.value)
