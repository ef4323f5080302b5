"""``planner generate``: made-up clusters to study, test and measure with.

Where states go that a command makes stands here, too: a file, one of a state a line, or a folder.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from planner.cli import option
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import Given, Option, define
from planner.cli.output import LINE, STDOUT, check_file, make_folder, print_parts, say, write_file
from planner.commands.generate import GENERATED, PRESETS, RECORDS, generate_objects, knobs_of
from planner.commands.generate.generate import KnobOption
from planner.errors import InputError

LINES: Final = ".jsonl"
PACKED_LINES: Final = ".jsonl.gz"
YAML: Final = (".yaml", ".yml")

made_output_option = option.file(
    "--output",
    "Write to a file instead of standard output: NAME.json or NAME.yaml for one state, "
    "NAME.jsonl or NAME.jsonl.gz for a state a line; any other name is a folder, made if it is "
    "not there, with a file for each state.",
    "-o",
    "made",
)


def _presets() -> str:
    width = max(map(len, PRESETS))
    return "\n".join(f"  {one.name:<{width}}  {one.summary}" for one in PRESETS.values())


EPILOG: Final = f"""\b
Examples:
  planner generate flat -o cluster.json
  planner generate hierarchical --seed 7 --queues 20 --workloads 1000 | planner solve -
  planner generate fair --count 100 --hard 25 -o states
  planner audit states
{option.own_help("generate")}
\b
Presets; what their knobs are where no option says otherwise:
{_presets()}

The same preset, seed and knobs give the same bytes, on every machine and with every Python. Usage
never exceeds the quota unless --fill does, and the pending workload never fits unless --fits says
so. The clock of every state is 2026-11-12T09:42:10Z. A hard state is one by construction: the
scheduler takes many where one would do.

"""


def knob_options() -> Iterator[Option]:
    """Yield an option for each knob, those of both schedulers but once."""
    by_name: dict[str, list[tuple[str, KnobOption]]] = {}
    for scheduler, record in RECORDS:
        for one in knobs_of(record):
            by_name.setdefault(one.name, []).append((scheduler, one))
    return (_option(name, knobs) for name, knobs in by_name.items())


def _option(name: str, knobs: list[tuple[str, KnobOption]]) -> Option:
    parts = []
    for scheduler, one in knobs:
        least, most = one.knob.least, one.knob.most
        limits = f", {least} to {most}" if one.kind is int else ""
        parts.append(f"{scheduler}: {one.knob.what}{limits}.")
    # The words that one scheduler knows may be more than those of the other.
    kind = max((one.kind for _, one in knobs if isinstance(one.kind, tuple)), key=len, default=None)
    written, text = name.replace("_", "-"), " ".join(parts)
    if kind is not None:
        return click.option(f"--{written}", name, type=click.Choice(kind), help=text)
    if knobs[0][1].kind is bool:
        return click.option(f"--{written}/--no-{written}", name, default=None, help=text)
    return click.option(f"--{written}", name, metavar="N", type=int, help=text)


class MadeState(NamedTuple):
    """What a dump of a state holds, a v1 List or of YuniKorn; and its file's name in a folder."""

    name: str
    value: Mapping[str, Any]


class MadeTarget(NamedTuple):
    """Where they go: a file or a folder, or standard output; and whether there may be several."""

    path: Path | None
    several: bool

    @classmethod
    def choose(cls, path: Path | None, *, several: bool) -> MadeTarget:
        """Refuse early what cannot be written later.

        Raises
        ------
        InputError
            If the file is for one state and there may be several, its folder is not there, or
            the folder to fill is not empty.
        """
        if path is None or path == STDOUT:
            return cls(None, several)
        if _is_lines(path) or _is_single(path):
            check_file("-o", path)
            if several and not _is_lines(path):
                hint = f"-o {path.stem}{LINES} holds a state a line, -o {path.stem} is a folder"
                raise InputError(f"-o {path}", "holds one state, and there are several", hint=hint)
        elif path.is_dir():
            if any(path.iterdir()):
                raise InputError(f"-o {path}", "is a folder that is not empty", "an empty folder")
        elif path.exists():
            expected = "a name that ends in .json, .yaml, .jsonl or .jsonl.gz, or a folder"
            raise InputError(f"-o {path}", "is not a folder", expected)
        else:
            check_file("-o", path)
        return cls(path, several)

    def emit(self, states: Iterable[MadeState]) -> None:
        """Write the states, one at a time; a file is written whole or not at all.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        from planner.dump import as_json, as_line

        path = self.path
        if path is None:
            text: Callable[[Mapping[str, Any]], str] = as_line if self.several else as_json
            print_parts(text(state.value) for state in states)
        elif _is_lines(path):
            write_file("-o", path, _lines(states, packed=path.name.endswith(PACKED_LINES)))
        elif _is_single(path):
            write_file("-o", path, (_text(state, path) for state in states))
        else:
            _fill(path, states)


def _is_lines(path: Path) -> bool:
    return path.name.endswith((LINES, PACKED_LINES))


def _is_single(path: Path) -> bool:
    return path.name.endswith((".json", *YAML))


def _text(state: MadeState, path: Path) -> bytes:
    from planner.dump import as_json, as_yaml

    return (as_yaml if path.name.endswith(YAML) else as_json)(state.value).encode()


def _lines(states: Iterable[MadeState], *, packed: bool) -> Iterator[bytes]:
    from planner.dump import as_line

    for state in states:
        line = as_line(state.value).encode()
        # Each line is a member of its own, without a time: the same states are the same bytes.
        yield gzip.compress(line, mtime=0) if packed else line


def _fill(folder: Path, states: Iterable[MadeState]) -> None:
    make_folder("-o", folder)
    for state in states:
        path = folder / f"{state.name}.json"
        path.parent.mkdir(exist_ok=True)  # a dump of YuniKorn has a folder of its own
        write_file("-o", path, _text(state, path))


@define(
    click.argument("preset", metavar="PRESET", type=click.Choice(list(PRESETS))),
    click.option(
        "--seed", metavar="N", type=int, default=0, show_default=True, help="Which one of its kind."
    ),
    click.option(
        "--count",
        metavar="N",
        type=click.IntRange(1, 1_000_000),
        default=1,
        show_default=True,
        help="How many states, of as many seeds from --seed on.",
    ),
    made_output_option,
    *knob_options(),
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Make up the state of a cluster in which a pending workload needs preemption.

    PRESET names a cluster to start from; every knob of it can be turned. What is written is what
    kubectl would print of a cluster of Kueue, or the state dump of a cluster of YuniKorn, and the
    other commands read it as STATE.
    """
    from planner.report.text import plural

    names = " ".join(dict.fromkeys(one.name for _, record in RECORDS for one in knobs_of(record)))
    knobs = {name: value for name, value in given.of(names).items() if value is not None}
    preset, seed, count = given.preset, given.seed, given.count
    target = MadeTarget.choose(given.made, several=count > 1)
    first = MadeState(_name(preset, seed), generate_objects(preset, seed, knobs))
    target.emit(_states(first, preset, range(seed + 1, seed + count), knobs))
    if target.path is not None:
        say("generate", f"{plural(count, 'state')} of {preset}, from seed {seed} on")
    return OPTIMAL


def _states(
    first: MadeState, preset: str, seeds: range, knobs: dict[str, Any]
) -> Iterator[MadeState]:
    """Yield the states; the first has shown that the knobs can be used."""
    yield first
    for done, seed in enumerate(seeds, start=1):
        LINE.update(done / (len(seeds) + 1), _name(preset, seed))
        yield MadeState(_name(preset, seed), generate_objects(preset, seed, knobs))


def _name(preset: str, seed: int) -> str:
    """Return the name of a state's file, in a folder of its own where it is read from one."""
    folder = GENERATED.of(PRESETS[preset].knobs).FOLDER
    return f"{preset}-{seed}" + (f"/{folder}" if folder else "")
