"""All rules of a state's scheduler, and their examples as files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from planner.commands.lint.record import Finding, Lint
from planner.coverage.answer import covering
from planner.scheduler import Part
from planner.state import AnyState

RULES: Final = Part[Callable[[AnyState], Iterable[Finding]]]("lint")
"""What yields the findings in a state."""


def lint(state: AnyState) -> Lint:
    """Return what is found in the configuration of a cluster, each with an example that shows it.

    Parameters
    ----------
    state
        What ``planner.read`` returned: ClusterQueues, Cohorts and Kueue's Configuration, or
        YuniKorn's queues. Workloads are looked at for their priorities and annotations, and
        Kueue's pending ones for whoever keeps it from others in every cycle.

    Raises
    ------
    InputError
        If a workload names a flavor, or an application a queue, that nothing knows.
    """
    found = RULES.of(state)(state)
    return Lint(
        scheduler=state.scheduler,
        digest=state.digest,
        findings=tuple(found),
        coverage=covering(state).everything(),
    )


_STRANGE: Final = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST: Final = 100


def files_of(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a file for the example of each finding.

    It is named after the code and the first of the objects, and a number where that is not
    enough: KL-03-clusterqueue-team-a.json.
    """
    taken: set[str] = set()
    for one in findings:
        about = _STRANGE.sub("-", one.objects[0])[:_LONGEST].strip(".-")
        stem, number = f"{one.code}-{about}", 1
        while stem in taken:
            number += 1
            stem = f"{one.code}-{about}-{number}"
        taken.add(stem)
        yield f"{stem}.json", json.dumps(one.example.state, indent=2, ensure_ascii=True) + "\n"
