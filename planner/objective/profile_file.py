"""Profiles that users write themselves, as TOML files; and costs of workloads that they give.

A file has these keys, and no others::

    name = "gentle"                       # the file's own name when left out
    summary = "windows first, then rates" # may be left out
    levels = ["last_resort", "cut_short", "rated"] # minimised one after the other
    caps = ["lost_work+restart_cost"]     # not above the scheduler's own plan; may be left out

    unpublished = "median"                # lost work without a published checkpoint; else "start"
    saving = "counts"                     # the time of saving on SIGTERM is lost, too; else "free"

    [rates]                               # whole numbers; the term rated adds up
    lost_work = 1                         # lost_work + 600 * workloads, and must then be
    workloads = 600                       # among the levels

    [protect]                             # how long a workload may run before it is evicted
    min_runtime = "30m"
    annotated = true                      # the run time that workloads ask for counts, too
    [protect.queue]                       # also cohort, namespace; the longest that applies counts
    team-a = "2h"
    [protect.soft]                        # min_runtime and groups, too: forbids nothing, but
    min_runtime = "4h"                    # counts in the term cut_short, a level then

    [budget]                              # how many evictions there are at most
    total = 3
    [budget.namespace]                    # also queue, cohort
    ml = 0

Terms are called by their names, such as ``lost_work`` (``planner laws``), and joined by ``+``
 where they have one unit. ``victims@each``, only as a level of its own,
stands for one level per priority, from the highest down: the number of victims of that priority. As
a cap of its own it compares these numbers with the scheduler's, in the same order: at the first
priority where they differ, a plan has fewer. A queue of YuniKorn is named by its path, and includes
all queues below it. A group must be in the state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeGuard

from planner.errors import InputError, ParseError, SchemaError
from planner.objective.annotation import parse_seconds
from planner.objective.profiles import PROFILES, Measure, Profile
from planner.objective.wishes import EVERYBODY, Group, Wishes
from planner.term import EACH, RATED, TERMS, name_of

SUFFIX: Final = ".toml"
FRONT: Final = "pareto:"
MAX_BYTES: Final = 2**20
_MOST: Final = 2**40
"""The largest budget."""
_DEAREST: Final = 2**63 - 1
"""The largest cost of a workload."""
_MOST_MEASURES: Final = 100
"""Levels, and caps: each level takes its time, and there are a few dozen terms."""
_LONGEST: Final = 60
_HIGHEST_RATE: Final = 10**9
_EITHER: Final[Mapping[str, Mapping[str, str]]] = {
    "unpublished": {"start": "all since it started is lost", "median": "what published ones lose"},
    "saving": {"free": "who saves when told to stop loses nothing", "counts": "that time"},
}
"""Keys with two values, each with its meaning; the first value is the default."""
_KEYS: Final = ("name", "summary", "levels", "caps", *_EITHER, "rates", "protect", "budget")
_GROUPS: Final = ("queue", "cohort", "namespace")


def read_profile(path: str | Path) -> Profile:
    """Read a profile from a TOML file.

    Raises ``InputError`` if the file cannot be read. Raises ``ParseError`` if it is no TOML, or too
    large. Raises ``SchemaError`` if a key is missing, unknown or unusable.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or "cannot be read"
        raise InputError(str(path), found, "a TOML file") from None
    if len(data) > MAX_BYTES:
        raise ParseError(str(path), f"more than {MAX_BYTES} bytes", "a short TOML file")
    try:
        document = parse_toml(data.decode("utf-8-sig"))
    except ValueError as error:
        raise ParseError(str(path), f"not TOML: {error}") from None
    for key in document:
        if key not in _KEYS:
            raise SchemaError(f"{path}: {_brief(key)}", "there is no such key", ", ".join(_KEYS))
    name = _text(path, document, "name", path.stem)
    # A plan names its objective: a checker would take this name for the program's own profile.
    if name in PROFILES:
        raise SchemaError(f"{path}: name", f'"{name}" is a profile of the program', "another name")
    levels = _measures(path, document, "levels")
    if not levels:
        raise SchemaError(f"{path}: levels", "nothing to minimise", 'a list such as ["workloads"]')
    return Profile(
        name,
        _text(path, document, "summary", ""),
        levels,
        _measures(path, document, "caps"),
        _wishes(path, document),
        _rates(f"{path}: rates", document.get("rates", {})),
        _is_second(path, document, "unpublished"),
        _is_second(path, document, "saving"),
    )


def find_profile(name: str | Profile) -> Profile:
    """Return the profile of a name; a name that ends in ``.toml`` is a file, a profile is itself.

    Raises ``InputError`` if there is no such profile, or its file cannot be used.
    """
    if isinstance(name, Profile):
        return name
    if name.endswith(SUFFIX):
        return read_profile(name)
    if name.startswith(FRONT):
        raise SchemaError(
            "objective",
            f'"{name}" asks for a front of plans, not for one',
            "an objective for one plan",
            "planner.front finds fronts, and so does the command planner solve",
        )
    if name not in PROFILES:
        names = f"{', '.join(PROFILES)}, or a file NAME{SUFFIX}"
        raise SchemaError("objective", f'there is no profile "{name}"', names)
    return PROFILES[name]


def parse_front(text: str) -> tuple[Measure, Measure]:
    """Read the two measures of a Pareto front, such as ``pareto:workloads,lost_work``.

    Raises ``SchemaError`` if there are not two, or a measure cannot be used.
    """
    parts = text.removeprefix(FRONT).split(",")
    expected = f'two measures: "{FRONT}workloads,lost_work"'
    refused = SchemaError("objective", f'"{text}" cannot be used', expected)
    if not text.startswith(FRONT) or len(parts) != 2:  # noqa: PLR2004 - a pair
        raise refused
    first, second = (_measure("objective", part) for part in parts)
    if first == second:
        raise refused
    return first, second


def _text(path: Path, document: Mapping[str, object], key: str, default: str) -> str:
    value = document.get(key, default)
    if not isinstance(value, str) or (key == "name" and not value):
        raise _unusable(f"{path}: {key}", value, "a text")
    return value


def _measures(path: Path, document: Mapping[str, object], key: str) -> tuple[Measure, ...]:
    value = document.get(key, [])
    where = f"{path}: {key}"
    if not isinstance(value, list):
        raise _unusable(where, value, 'a list such as ["workloads"]')
    if len(value) > _MOST_MEASURES:
        raise SchemaError(where, f"there are {len(value):,}", f"at most {_MOST_MEASURES}")
    return tuple(_measure(f"{where}[{i}]", text, in_list=True) for i, text in enumerate(value))


def _is_second(path: Path, document: Mapping[str, object], key: str) -> bool:
    usual, other = _EITHER[key]
    value = document.get(key, usual)
    if value not in (usual, other):
        expected = ", or ".join(f'"{one}", {meaning}' for one, meaning in _EITHER[key].items())
        raise _unusable(f"{path}: {key}", value, expected)
    return value == other


def _rates(where: str, value: object) -> dict[str, int]:
    rates = {}
    for name, rate in _table(where, value).items():
        at, term = f"{where}.{_brief(name)}", name_of(name)
        if term not in TERMS or term in {RATED, EACH}:
            known = ", ".join(one for one in TERMS if one not in {RATED, EACH})
            raise SchemaError(at, f'there is no term "{_brief(name)}" to rate', known)
        if term in rates:
            raise SchemaError(
                at, f'"{_brief(name)}" is rated already, as "{term}"', "each term once"
            )
        if not _is_whole(rate, 1, _HIGHEST_RATE):
            raise _unusable(at, rate, f"a whole number from 1 to {_HIGHEST_RATE}")
        rates[term] = rate
    return rates


def _wishes(path: Path, document: Mapping[str, object]) -> Wishes:
    where = f"{path}: protect"
    protect = _table(where, document.get("protect", {}))
    annotated = protect.get("annotated", False)
    if not isinstance(annotated, bool):
        raise _unusable(f"{where}.annotated", annotated, "true or false")
    soft = protect.get("soft", {})
    return Wishes(
        min_runtime_s=_by_group(where, protect, "min_runtime", _runtime, ("soft", "annotated")),
        soft_runtime_s=_by_group(f"{where}.soft", soft, "min_runtime", _runtime),
        annotated=annotated,
        budget=_by_group(f"{path}: budget", document.get("budget", {}), "total", _evictions),
    )


def _by_group(
    where: str,
    value: object,
    everybody: str,
    read: Callable[[str, object], int],
    others: Sequence[str] = (),
) -> dict[Group, int]:
    """Read a table with one value for everybody, and tables of values by the names of groups.

    ``others`` are keys that are read elsewhere.
    """
    found = {}
    for name, entry in _table(where, value).items():
        if name in others:
            continue
        if name == everybody:
            found[EVERYBODY] = read(f"{where}.{name}", entry)
        elif name in _GROUPS:
            for each, own in _table(f"{where}.{name}", entry).items():
                found[f"{name}/{each}"] = read(f"{where}.{name}.{_brief(each)}", own)
        else:
            expected = ", ".join((everybody, *_GROUPS, *others))
            raise SchemaError(f"{where}.{_brief(name)}", "there is no such key", expected)
    return found


def _table(where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _unusable(where, value, "a table")
    return value


def _runtime(where: str, value: object) -> int:
    try:
        return parse_seconds(value if isinstance(value, str) else "")
    except ValueError as error:
        raise _unusable(where, value, str(error)) from None


def _evictions(where: str, value: object) -> int:
    if not _is_whole(value, 0, _MOST):
        raise _unusable(where, value, "a whole number, 0 or more")
    return value


def _measure(where: str, text: object, *, in_list: bool = False) -> Measure:
    """Read a term, or several of one unit joined by ``+``.

    ``victims@each`` is permitted only alone, as a level or a cap: ``in_list``.
    """
    if not isinstance(text, str):
        raise _unusable(where, text, 'a text such as "lost_work+restart_cost"')
    measure = tuple(name_of(part.strip()) for part in text.split("+"))
    for term in measure:
        if term not in TERMS:
            raise SchemaError(where, f'there is no term "{_brief(term)}"', ", ".join(TERMS))
    if EACH in measure and not (in_list and len(measure) == 1):
        what = f'"{EACH}" is no number, but stands for one of each priority'
        alone = "it as a level or a cap of its own" if in_list else "it as a level of its own"
        raise SchemaError(where, what, alone)
    units = dict.fromkeys(TERMS[term].unit for term in measure)
    if len(units) > 1:
        raise SchemaError(where, f"{' and '.join(units)} do not add up", "terms of one unit")
    if len(set(measure)) < len(measure):
        raise SchemaError(where, f'"{_brief(text)}" names a term twice', "each term once")
    return measure


def checked_costs(costs: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """Return costs that are given per key, if all of them can be used.

    Raises ``SchemaError`` if a key is no text, or a cost is no whole number, negative or too large.
    """
    for name, cost in (costs or {}).items():
        if not isinstance(name, str):
            raise SchemaError("costs", f"the key {name!r} cannot be used", "a workload's, a text")
        if not _is_whole(cost, 0, _DEAREST):
            expected = f"a whole number from 0 to {_DEAREST}"
            raise SchemaError(f'costs["{name}"]', f"{cost!r} cannot be used", expected)
    return costs


def _is_whole(value: object, least: int, most: int) -> TypeGuard[int]:
    """Say whether a value is a whole number from ``least`` to ``most``; a ``bool`` is none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _unusable(where: str, value: object, expected: str) -> SchemaError:
    return SchemaError(where, f"{_brief(repr(value))} cannot be used", expected)


def _brief(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_STRING_OR_COMMENT: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'''.*?'''|'[^'\n]*'|#[^\n]*",
    re.DOTALL,
)
_DEEP: Final = re.compile(r"(?<![\w-])[\w-]+(?:[ \t]*\.[ \t]*[\w-]+){20}")
_LONG: Final = re.compile(r"(?<![\w-])[+-]?[0-9][\w.+-]{100}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Python's own parser takes memory by the square of the length of a dotted key, and reads long
    numbers that cannot be printed: both are refused before it runs.

    Raises ``ValueError`` if the text is no TOML, or has more than a table of settings needs.
    """
    import tomllib  # noqa: PLC0415 - hardly any plan has an objective from a file

    # Strings and comments may contain anything: only keys and numbers are tested.
    bare = _STRING_OR_COMMENT.sub("k", text)
    if _DEEP.search(bare):
        raise ValueError("a key has more than 20 parts")
    if _LONG.search(bare):
        raise ValueError("a number has more than 100 digits")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists and tables are nested too deeply") from None
