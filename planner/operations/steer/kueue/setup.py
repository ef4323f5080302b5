"""What a cluster has to have to be steered, what is missing in one, and the manifests."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Final, Literal, get_args

from planner.operations.kubectl.kueue_resource import WORKLOADS
from planner.operations.steer.kueue.carry import LEASES, Hands
from planner.operations.steer.record import Finding
from planner.state.kueue import State
from planner.state.kueue_workload import BOOST_GATE

PolicyVersion = Literal["v1", "v1beta1", "v1alpha1"]
"""The versions of MutatingAdmissionPolicy, the newest first: of Kubernetes 1.36, 1.34 and 1.32."""
ADMISSION: Final = "admissionregistration.k8s.io"
NAME: Final = "preemption-planner-steer"
"""What all objects of the set-up are called, and their namespace."""
GATE_GATE: Final = "MultiKueueOrchestratedPreemption"
"""Kueue's feature gate without which preemption gates mean nothing."""
SINCE: Final = "0.17"
SERVED: Final = (
    "Kubernetes serves it from 1.36 on by itself; from 1.32 on with the feature gate "
    "MutatingAdmissionPolicy and its API version in --runtime-config"
)
MANIFESTS: Final = "`planner steer --manifests` prints it"


def manifests(version: PolicyVersion) -> str:
    """Return all objects of the set-up as YAML, the policy in a version of its API."""
    text = files("planner.operations.steer.kueue").joinpath("manifests.yaml").read_text("utf-8")
    return text.replace(f"{ADMISSION}/v1\n", f"{ADMISSION}/{version}\n")


def missing_gates(state: State) -> str:
    """Say which feature gates of Kueue are missing, with the cure; empty if there are all."""
    configuration = state.configuration
    release = configuration.release
    if GATE_GATE not in release.gates:
        return (
            f"Kueue {release.name} has neither preemption gates nor priority boosts: "
            f"they are there from {SINCE} on"
        )
    off = [one for one in (GATE_GATE, BOOST_GATE) if not configuration.gate(one)]
    if not off:
        return ""
    named = " and ".join(off)
    turned_on = ", ".join(f"{one}: true" for one in off)
    return f"{named} off; set featureGates: {{{turned_on}}} in Kueue's Configuration and restart it"


def findings(state: State, hands: Hands, lease: str) -> Iterator[Finding]:
    """Say of everything that steering needs whether a cluster has it."""
    said = missing_gates(state)
    on = f"on, Kueue {state.release.name}"
    yield _thing("Kueue's feature gates", "", holds=not said, found=said or on)
    version = next((one for one in get_args(PolicyVersion) if _serves(hands, one)), None)
    minor = (hands.raw("/version") or {}).get("gitVersion", "an unknown version")
    served = f"served as {version}" if version else f"not served by Kubernetes {minor}"
    yield _thing("MutatingAdmissionPolicy", SERVED, holds=version is not None, found=served)
    if version is not None:
        for kind in ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"):
            path = f"/apis/{ADMISSION}/{version}/{kind}/{NAME}"
            there = hands.raw(path) is not None
            cure = f"planner steer --manifests {version} | kubectl apply -f -"
            yield _thing(f"{kind}/{NAME}", cure, holds=there)
    there = hands.find(LEASES, lease) is not None
    yield _thing(f"the Lease {lease}", MANIFESTS, holds=there)
    namespace = lease.partition("/")[0]
    for verb, resource, part, place in (
        *((verb, WORKLOADS, "", "") for verb in ("list", "watch", "patch")),
        ("patch", WORKLOADS, "status", ""),
        *((verb, LEASES, "", namespace) for verb in ("get", "patch")),
    ):
        right = f"the right to {verb} {resource}{part and f'/{part}'}"
        cure = f"bind the ClusterRole {NAME}: {MANIFESTS}"
        yield _thing(right, cure, holds=hands.may(verb, resource, part, place))


def _thing(what: str, cure: str, *, holds: bool, found: str = "") -> Finding:
    found = found or ("there" if holds else "missing")
    return Finding(what=what, holds=holds, found=found, cure="" if holds else cure)


def _serves(hands: Hands, version: str) -> bool:
    listed = (hands.raw(f"/apis/{ADMISSION}/{version}") or {}).get("resources")
    found = listed if isinstance(listed, list) else []
    return any(
        isinstance(one, dict) and one.get("name") == "mutatingadmissionpolicies" for one in found
    )
