"""``planner generate``: made-up clusters to study, test and measure with.

It also writes the states that commands make: to a file, to one with a state a line, or to a folder.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from planner.cli import value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import CommandLine, define
from planner.cli.output import LINE, STDOUT, check_file, make_folder, print_parts, say, write_file
from planner.cli.value import Option
from planner.errors import InputError
from planner.research.generate import PRESETS, RECORDS, generate_objects, knobs_of
from planner.research.generate.generate import KnobOption, check_seed
from planner.research.wing import generators

LINES: Final = ".jsonl"
PACKED_LINES: Final = ".jsonl.gz"
YAML: Final = (".yaml", ".yml")
SINGLE: Final = (".json", *YAML)
EXPECTED: Final = "a name that ends in .json, .yaml, .jsonl or .jsonl.gz, or a folder"
OF_FILES: Final = frozenset(
    {".csv", ".gz", ".htm", ".html", ".md", ".ndjson", ".parquet", ".tar", ".tgz", ".toml"}
    | {".txt", ".zip"}
)
"""Suffixes by which who names a folder that is not there means a file."""

made_output = value.file(
    "-o, --output",
    "Write to a file instead of standard output: NAME.json or NAME.yaml for one state, "
    "NAME.jsonl or NAME.jsonl.gz for a state a line; any other name is a folder, made if it is "
    "not there, with a file for each state.",
)


_WIDTH: Final = max(map(len, PRESETS))
_PRESETS: Final = "\n".join(f"  {name:<{_WIDTH}}  {one.summary}" for name, one in PRESETS.items())


def knob_options() -> Iterator[tuple[str, Option[Any]]]:
    """Yield name and option of each knob, only one for a knob of both schedulers."""
    by_name: dict[str, list[tuple[str, KnobOption]]] = {}
    for scheduler, record in RECORDS:
        for one in knobs_of(record):
            by_name.setdefault(one.name, []).append((scheduler, one))
    for name, knobs in by_name.items():
        text = " ".join(
            f"{scheduler}: {one.knob.what}"
            + (f", {one.knob.least} to {one.knob.most}." if one.kind is int else ".")
            for scheduler, one in knobs
        )
        written = name.replace("_", "-")
        # One scheduler may know more words for a knob than the other.
        kinds = (one.kind for _, one in knobs if isinstance(one.kind, tuple))
        if kind := max(kinds, key=len, default=None):
            yield name, value.one(f"--{written}", click.Choice(kind), text)
        elif knobs[0][1].kind is bool:
            yield name, value.either(written, text)
        else:
            yield name, value.one(f"--{written} N", value.Whole(), text)


class MadeState(NamedTuple):
    """The content of a dump, a v1 List or YuniKorn's; ``name`` is that of its file in a folder."""

    name: str
    value: Mapping[str, Any]


class MadeTarget(NamedTuple):
    """A file, a folder or standard output for made states; and whether there may be several."""

    path: Path | None
    several: bool

    @property
    def form(self) -> str:
        """The name of the file or folder in small letters: its end says what is written."""
        return "" if self.path is None else self.path.name.lower()

    @classmethod
    def choose(cls, path: Path | None, *, several: bool) -> MadeTarget:
        """Refuse early what cannot be written later.

        Raises an InputError if the file is for one state and there may be several, its folder is
        not there, its name says that it has another form, or the folder to fill is not empty.
        """
        if path is None or path == STDOUT:
            return cls(None, several)
        target = cls(path, several)
        if target.form.endswith((LINES, PACKED_LINES, *SINGLE)):
            check_file("-o", path)
            if several and target.form.endswith(SINGLE):
                hint = f"-o {path.stem}{LINES} holds a state a line, -o {path.stem} is a folder"
                raise InputError(f"-o {path}", "holds one state, and there are several", hint=hint)
        elif path.is_dir():
            if any(path.iterdir()):
                raise InputError(f"-o {path}", "is a folder that is not empty", "an empty folder")
        elif path.exists():
            raise InputError(f"-o {path}", "is not a folder", EXPECTED)
        elif path.suffix.lower() in OF_FILES:
            hint = f"mkdir {path} makes it a folder, if that is meant"
            raise InputError(f"-o {path}", f"no state is written as {path.suffix}", EXPECTED, hint)
        else:
            check_file("-o", path)
        return target

    def emit(self, states: Iterable[MadeState]) -> None:
        """Write the states, one at a time; a file is written whole or not at all.

        Raises an InputError if they cannot be written.
        """
        from planner.dump import as_json, as_line, as_yaml

        path, form = self.path, self.form
        text: Callable[[Mapping[str, Any]], str] = as_yaml if form.endswith(YAML) else as_json
        if form.endswith((LINES, PACKED_LINES)) or (path is None and self.several):
            text = as_line
        written = (text(state.value) for state in states)
        if path is None:
            print_parts(written)
        elif form.endswith((LINES, *SINGLE)):
            write_file("-o", path, (one.encode() for one in written))
        elif form.endswith(PACKED_LINES):
            # Each line is a gzip member without a time: the same states give the same bytes.
            write_file("-o", path, (gzip.compress(one.encode(), mtime=0) for one in written))
        else:
            make_folder("-o", path)
            for state in states:
                file = path / f"{state.name}.json"
                file.parent.mkdir(exist_ok=True)  # a dump of YuniKorn has a folder of its own
                write_file("-o", file, as_json(state.value).encode())


class Options(CommandLine):
    """What `planner generate` is given."""

    preset = value.argument("PRESET", click.Choice(list(PRESETS)))
    seed = value.one("--seed N", value.Whole(), "Which one of its kind.", 0)
    count = value.one(
        "--count N",
        value.Whole(1, 1_000_000),
        "How many states, of as many seeds from --seed on.",
        default=1,
    )
    made = made_output
    locals().update(knob_options())  # one for each knob


@define(Options, presets=_PRESETS)
def command(given: Options) -> int:
    """Make up the state of a cluster in which a pending workload needs preemption.

    PRESET names a cluster to start from; every knob of it can be turned. What is written is what
    kubectl would print of a cluster of Kueue, or the state dump of a cluster of YuniKorn, and the
    other commands read it as STATE.

      planner generate flat -o cluster.json
      planner generate hierarchical --seed 7 --queues 20 --workloads 1000 | planner solve -
      planner generate fair --count 100 --hard 25 -o states
      planner audit states
      {generate}

    Presets; what their knobs are where no option says otherwise:
      {presets}
    """
    from planner.quantity import plural

    found = {name: given.values[name] for name, _ in knob_options()}
    knobs = {name: knob for name, knob in found.items() if knob is not None}
    preset, first, count = given.preset, given.seed, given.count
    # A state whose dump is read as a folder is written to a folder of its own.
    folder = generators()[PRESETS[preset].knobs.scheduler].FOLDER

    def made(seed: int) -> MadeState:
        named = f"{preset}-{seed}" + (f"/{folder}" if folder else "")
        if seed > first:
            LINE.update((seed - first) / count, named)
        return MadeState(named, generate_objects(preset, seed, knobs))

    target = MadeTarget.choose(given.made, several=count > 1)
    check_seed(first + count - 1)
    begun = made(first)  # which shows that the knobs can be used, before anything is written
    target.emit(chain([begun], map(made, range(first + 1, first + count))))
    if target.path is not None:
        say("generate", f"{plural(count, 'state')} of {preset}, from seed {first} on")
    return OPTIMAL
