"""The release of Kueue that a dump is of: shown by its objects, or given by the user.

Source: docs/semantics/kueue-releases.md §1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Self

from planner.errors import InputError
from planner.state import AUTO
from planner.state.kueue import Configuration
from planner.state.kueue_release import (
    MAIN,
    KnownBy,
    Release,
    find_release,
    newest_first,
    read_version,
)
from planner.state.pods import Deployment, ManagerContainer

_MANAGER: Final = "kueue-controller-manager"
_IMAGE: Final = re.compile(r"(?:.*/)?kueue:([A-Za-z0-9_.-]+)(?:@.*)?")
_GATES: Final = frozenset({"-feature-gates", "--feature-gates"})
_CHART: Final = "kueue-"
_GIVEN: Final = "release"


class GateRefused(InputError):  # noqa: N818 - reads as a statement where it is raised
    """The release does not start with a feature gate: the gate is unknown to it, or locked."""

    def __init__(self, release: Release, gate: str, reason: str) -> None:
        knowing = next((one.name for one in newest_first() if gate in one.gates), "")
        hint = f"Kueue {knowing} knows it; {_GIVEN}=X.Y.Z says which one it is" if knowing else ""
        found = f"Kueue {release.name} does not start with {gate}: it {reason}"
        super().__init__("Configuration: featureGates", found, hint=hint)
        self.gate = gate

    def at(self, where: str) -> Self:
        """Return the error with the place where the gate is set."""
        self.where = where
        return self


Labelled = tuple[str, dict[str, str]]
"""An object of Kueue's installation in words, and its labels."""


class Sign(NamedTuple):
    """A release that an object shows, by its image or its labels, and the object in words."""

    name: str
    known_by: KnownBy
    source: str


def signs_of(deployments: Sequence[Deployment], labelled: Sequence[Labelled]) -> Iterator[Sign]:
    """Yield the signs of a release, those in the image of the manager first."""
    for one, container in _containers(deployments):
        match = _IMAGE.fullmatch(container.image)
        version = read_version(match.group(1)) if match else ""
        if version:
            yield Sign(version, "image", f"the image of Deployment {one.key}")
    labels = [*labelled, *((f"Deployment {d.key}", d.metadata.labels) for d in deployments)]
    for subject, found in labels:
        chart, version = found.get("helm.sh/chart", ""), ""
        if chart.startswith(_CHART):
            version = read_version(chart.removeprefix(_CHART))
        elif found.get("app.kubernetes.io/name") == "kueue":
            version = read_version(found.get("app.kubernetes.io/version", ""))
        if version:
            yield Sign(version, "labels", f"the labels of {subject}")


def _containers(deployments: Sequence[Deployment]) -> Iterator[tuple[Deployment, ManagerContainer]]:
    """Yield the containers of Kueue's manager, which is known by its name or its image."""
    for one in deployments:
        containers = one.spec.template.spec.containers
        if one.name == _MANAGER or any(_IMAGE.fullmatch(each.image) for each in containers):
            yield from ((one, each) for each in containers)


def settle(
    given: str,
    recorded: str,
    signs: Sequence[Sign],
    deployments: Sequence[Deployment],
    configuration: Configuration,
) -> tuple[Configuration, list[str]]:
    """Return the Configuration with the release that a dump is of, and remarks.

    The user's choice goes first, then the release of a recorded instance, the image of the manager,
    the labels of a chart, and the newest release that knows all feature gates that are set.

    Raises ``InputError`` if the rules of the release are not known, or it does not start with the
    feature gates.
    """
    configuration, notes = _with_arguments(configuration, deployments)
    gates = configuration.feature_gates
    known_by: KnownBy
    if given != AUTO:
        release, known_by = _find(given, _GIVEN), "given"
    elif recorded:
        release, known_by = _find(recorded, "release of the recorded instance"), "recorded"
    elif signs:
        release, known_by = _find(signs[0].name, signs[0].source), signs[0].known_by
    else:
        fitting = (one for one in newest_first() if not any(one.refusals(gates)))
        release, known_by = next(fitting, find_release(MAIN)), "assumed"
        if release.name != MAIN:
            known_by = "gates"
            notes.append(
                f"the feature gates are those of Kueue {release.name} or older: its rules are used"
            )
    for gate, reason in release.refusals(gates):
        raise GateRefused(release, gate, reason)
    notes.extend(on_unmet(release, gates))
    # Also where the user chose another release: the whole answer depends on whose rules hold.
    for sign in signs:
        if known_by != "recorded" and sign.name != release.name:
            notes.append(
                f"by {sign.source} it is Kueue {sign.name}: planned by the rules of {release.name}"
            )
    if not release.known:
        notes.append(
            f"Kueue {release.name} is newer than the rules that are known: those of the last "
            "release before it are used"
        )
    return configuration.under(release, known_by), notes


def on_unmet(release: Release, gates: Mapping[str, bool]) -> list[str]:
    """Return notes on gates that are off although others that are on need them."""
    unmet: dict[str, list[str]] = {}
    for gate, needed in release.unmet(gates):
        unmet.setdefault(needed, []).append(gate)
    return [
        f"Kueue {release.name} does not start with {needed} off as long as {' and '.join(on)} "
        f"{'is' if len(on) == 1 else 'are'} on, which {'needs' if len(on) == 1 else 'need'} it: "
        "planned by these gates nevertheless"
        for needed, on in unmet.items()
    ]


def _find(name: str, where: str) -> Release:
    try:
        return find_release(name)
    except ValueError as error:
        hint = "" if where == _GIVEN else f"{_GIVEN}=X.Y.Z plans by the rules of another"
        raise InputError(where, str(error), hint=hint) from None


def _with_arguments(
    configuration: Configuration, deployments: Sequence[Deployment]
) -> tuple[Configuration, list[str]]:
    """Take the feature gates from the arguments of the manager, if they are there."""
    arguments = next(filter(None, (_gates(one) for _, one in _containers(deployments))), "")
    if not arguments:
        return configuration, []
    pairs = [pair.split("=", 1) for pair in arguments.split(",") if "=" in pair]
    gates = {name.strip(): value.strip().lower() in _TRUE for name, value in pairs}
    notes = []
    if configuration.feature_gates and configuration.feature_gates != gates:
        notes.append(
            "the manager's arguments and the Configuration both have feature gates, with which "
            "Kueue does not start: those of the arguments are used"
        )
    return configuration.model_copy(update={"feature_gates": gates}), notes


def _gates(container: ManagerContainer) -> str:
    """Return the feature gates in the arguments of a container; empty counts as absent.

    One dash or two, the value behind ``=`` or in the next word, and of several the last one counts,
    as for the package flag of Go, by which Kueue reads its arguments.
    """
    found = ""
    words = iter((*container.command, *container.args))
    for word in words:
        name, equals, value = word.partition("=")
        if name in _GATES:
            found = value if equals else next(words, "")
    return found


_TRUE: Final = frozenset({"true", "t", "1"})
