"""Every kind of finding that there is, all rules of a state's scheduler, and what is ignored.

Codes are stable: a code that is no longer found is not used again.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain, islice
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple

from planner.coverage.answer import covering
from planner.errors import SchemaError, did_you_mean
from planner.operations.wing import looks
from planner.plan.base import Published, Record, Told, Uncovered
from planner.plan.label import Label, Tone
from planner.plan.record import SchedulerId
from planner.quantity import plural
from planner.reader.show import shown
from planner.scheduler import scheduler_of
from planner.state import AnyState
from planner.state.record import ANNOTATIONS
from planner.verb import verb

Family = Literal["ping-pong", "impossible", "useless", "starvation", "nodes", "mistake"]
"""ping-pong: workloads evict one another, again and again. impossible: a preemption that the
configuration seems to ask for finds nobody. useless: a setting that changes nothing.
starvation: a workload waits, and the scheduler never reaches it. nodes: the nodes, or what a
topology makes of them, are not what is asked of them. mistake: what is written cannot be meant."""

Severity = Literal["error", "warning", "note"]
"""error: the scheduler refuses the object, or the object can never do what it says. warning: the
scheduler may do what is not expected. note: a setting does nothing."""
SEVERITIES: Final[Mapping[Severity, Tone]] = {"error": "bad", "warning": "warn", "note": ""}


class Example(Record):
    """A smallest state in which a finding shows, made of the objects concerned.

    ``state`` is an input of every command that reads a state; ``pending`` is who wants in
    there, as ``planner solve --pending`` takes it; ``shows`` says what the scheduler's own
    algorithm, replayed, does in it, step by step.
    """

    state: dict[str, Any]
    pending: str
    shows: Annotated[tuple[str, ...], Label("Example", "steps", "shows")]


class Finding(Record):
    """Something that a configuration makes possible, impossible or pointless.

    ``objects`` are those concerned as kubectl names them, ``clusterqueue/team-a``, or queues of
    YuniKorn by their paths, ``queue/root.a``. ``hint`` is a change after which the example does
    not show it any more.
    """

    code: Annotated[str, Label(role="code")]
    family: Annotated[Family, Label()]
    severity: Annotated[Severity, Label("Severity", "code", tones=SEVERITIES)]
    title: Annotated[str, Label(role="text")]
    objects: Annotated[tuple[str, ...], Label("Objects", "name")]
    reason: Annotated[str, Label("Reason", "answer")]
    hint: Annotated[str, Label("Hint", "answer")]
    example: Annotated[Example, Label()]


class Ignored(Finding):
    """A finding that does not count, and what says so."""

    by: Literal["option", "annotation", "baseline"]


class Lint(Published, Told):
    """All findings of a state, in the order of their codes, without those that are ``ignored``.

    ``coverage`` is what the state holds that is not modelled; ``notes`` say what was not looked at,
    and what was taken for granted.
    """

    scheduler: Annotated[SchedulerId, Label()]
    digest: Annotated[str, Label()]
    findings: Annotated[tuple[Finding, ...], Label(unit="finding")]
    ignored: tuple[Ignored, ...] = ()
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    notes: Annotated[tuple[str, ...], Label("Notes", "caution")] = ()

    @property
    def _in_a_line(self) -> str:
        """How much was found, and of which kinds."""
        codes = dict.fromkeys(finding.code for finding in self.findings)
        kinds = f": {', '.join(codes)}" if codes else ""
        besides = f", {len(self.ignored)} ignored" if self.ignored else ""
        return f"{self.scheduler}: {plural(len(self.findings), 'finding')}{kinds}{besides}"


class Kind(NamedTuple):
    """A kind of finding: what a finding of it says, and what is said of all of them.

    ``reason`` and ``hint`` have fields in braces, which each finding fills in. ``why`` it matters,
    an ``example`` of what leads to it, what helps (``cure``) and the ``source`` are for the
    reference and for SARIF.
    """

    code: str
    family: Family
    severity: Severity
    title: str
    reason: str
    hint: str
    why: str
    example: str
    cure: str
    source: str


KINDS: Final[Mapping[str, Kind]] = {
    code: Kind(code, **kind)
    for code, kind in tomllib.loads(
        files("planner.operations.lint").joinpath("kinds.toml").read_text("utf-8")
    ).items()
}
"""Every kind of finding by its code, in order."""


def finding(
    code: str, objects: Iterable[str], example: Example | None, **words: object
) -> Iterator[Finding]:
    """Yield the finding of a kind in these words, if there is an example that shows it."""
    if example is not None:
        kind = KINDS[code]
        yield Finding(
            code=code,
            family=kind.family,
            severity=kind.severity,
            title=kind.title,
            objects=tuple(dict.fromkeys(objects)),
            reason=kind.reason.format_map(words),
            hint=kind.hint.format_map(words),
            example=example,
        )


def first(found: Iterable[Iterator[Finding]]) -> Iterator[Finding]:
    """Yield the first finding of several tries; later ones are not tried."""
    yield from islice(chain.from_iterable(found), 1)


IGNORE: Final = f"{ANNOTATIONS}lint-ignore"
"""The annotation with the codes of findings that do not count where they name its object."""


class Looked(NamedTuple):
    """What the rules of a scheduler find in a state, and what they did not look at (``notes``).

    ``sees_to`` are the features that no coverage need name, because the rules look at them, and
    ``annotated`` the values of `IGNORE` by the objects that have it.
    """

    findings: Iterable[Finding]
    notes: Sequence[str] = ()
    sees_to: Collection[str] = ()
    annotated: Mapping[str, str] = MappingProxyType({})


@verb
def lint(state: AnyState, ignore: Sequence[str] = (), baseline: Lint | None = None) -> Lint:
    """Return what is found in the configuration of a cluster, each with an example that shows it.

    Parameters
    ----------
    state
        What ``planner.read`` returned: ClusterQueues, Cohorts and Kueue's Configuration, or
        YuniKorn's queues. Workloads are looked at for their priorities and annotations, and
        Kueue's pending ones for workloads that keep it from others in every cycle.
    ignore
        Codes of findings that do not count, such as ``["KL-02"]``. Nor do those whose code stands
        in the annotation ``preemption-planner.io/lint-ignore`` of an object that they name.
    baseline
        An earlier answer: what it has, ignored or not, does not count again.

    Raises
    ------
    InputError
        If a workload names a flavor, or an application a queue, that is not in the state, or there
        is no such code.
    """
    unknown = next((code for code in ignore if code not in KINDS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, list(KINDS))
        raise SchemaError("ignore", f'"{unknown}" is no code', "a code such as KL-01", hint)
    if baseline is not None and not isinstance(baseline, Lint):
        found = f"{type(baseline).__name__} cannot be used"
        raise SchemaError("baseline", found, "what planner.lint returns")
    looked = scheduler_of(state).found_in(looks(), "lint")(state)
    missing = covering(state).everything()
    annotated = {name: _codes(text) for name, text in looked.annotated.items()}
    strange = {name: [one for one in some if one not in KINDS] for name, some in annotated.items()}
    unknown_codes = (
        f"{name}: {IGNORE}: no code of a finding: {', '.join(map(shown, some))}"
        for name, some in strange.items()
        if some
    )
    findings, ignored = _sorted(looked.findings, ignore, annotated, baseline)
    return Lint(
        scheduler=state.scheduler,
        digest=state.digest,
        findings=findings,
        ignored=ignored,
        coverage=tuple(one for one in missing if one.feature not in looked.sees_to),
        notes=(*state.notes, *looked.notes, *unknown_codes),
    )


def identities(findings: Iterable[Finding]) -> Iterator[tuple[str, ...]]:
    """Yield what names each finding from one state to the next: its code and its objects.

    Where several have the same, each has a number of its own. Amounts and words do not count.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for one in findings:
        key = (one.code, *sorted(one.objects))
        seen[key] += 1
        yield (*key, str(seen[key]))


def _sorted(
    found: Iterable[Finding],
    ignore: Collection[str],
    annotated: Mapping[str, Collection[str]],
    baseline: Lint | None,
) -> tuple[tuple[Finding, ...], tuple[Ignored, ...]]:
    """Return the findings that count, and those that do not."""
    every = tuple(found)
    before = (*baseline.findings, *baseline.ignored) if baseline is not None else ()
    known = frozenset(identities(before))
    counted: list[Finding] = []
    ignored: list[Ignored] = []
    for one, identity in zip(every, identities(every), strict=True):
        by: Literal["option", "annotation", "baseline"]
        if one.code in ignore:
            by = "option"
        elif any(one.code in annotated.get(name, ()) for name in one.objects):
            by = "annotation"
        elif identity in known:
            by = "baseline"
        else:
            counted.append(one)
            continue
        ignored.append(Ignored(**dict(one), by=by))
    return tuple(counted), tuple(ignored)


def _codes(text: str) -> tuple[str, ...]:
    return tuple(code.strip() for code in text.split(",") if code.strip())


_STRANGE: Final = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST: Final = 100


def files_of(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a file for the example of each finding.

    The file is named after the code and the first object of the finding, with a number where
    names would be the same: KL-03-clusterqueue-team-a.json.
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
