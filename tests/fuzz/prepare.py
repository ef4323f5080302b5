"""What commands make of some seeds: plans, proofs and journals, for other commands to read."""

import contextlib
import json
import tempfile
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from planner.cli.main import main
from tests.fuzz import octets
from tests.fuzz.seeds import Made, Seed, Stock

STATE: Final = "state.json"
WORDS: Final = {
    "plan.json": ("solve", STATE, "--format=json", "--certify", "--output=plan.json"),
    "apart.json": (
        *("solve", STATE, "--format=json", "--certify"),
        *("--proof=trees.jsonl", "--output=apart.json"),
    ),
    "plans.json": ("solve", STATE, "--all", "--format=json", "--output=plans.json"),
    "audit.jsonl": ("audit", STATE, "--time-limit=2", "--jobs=1", "--results=audit.jsonl"),
    "compare.jsonl": ("compare", STATE, "--time-limit=2", "--jobs=1", "--results=compare.jsonl"),
}
_CLOCKS: Final = frozenset({"wall_time_s", "seconds"})


def prepared(stock: Stock) -> Stock:
    """Return the seeds with what commands make of some of them.

    It is made in a process of its own: the solver starts threads, and what has threads must not
    be forked.
    """
    few = (*stock.kueue[:5], *stock.kueue[-3:], *stock.yunikorn[-3:])
    seeds = tuple(seed for seed in few if len(seed.parts) == 1)
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_make, args=(seeds, theirs))
    process.start()
    theirs.close()
    files: list[dict[str, bytes]] = ours.recv()
    process.join()
    made = [Made(seed, each) for seed, each in zip(seeds, files, strict=True)]
    return stock._replace(made=tuple(one for one in made if one.files.keys() >= WORDS.keys()))


def _make(seeds: tuple[Seed, ...], connection: Connection) -> None:
    connection.send([_answers(seed) for seed in seeds])


def _answers(seed: Seed) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(STATE).write_bytes(octets.as_json(seed.parts[0][1]))
        for words in WORDS.values():
            CliRunner().invoke(main, list(words))
        Path(STATE).unlink()
        return {path.name: _still(path.read_bytes()) for path in Path().iterdir()}


def _still(data: bytes) -> bytes:
    """Take what the clock said out of an answer: inputs must follow from their number alone."""
    try:
        return octets.as_json(_without_clock(json.loads(data)))
    except ValueError:  # a file of one value a line
        lines = map(json.loads, data.splitlines())
        return b"".join(octets.as_json(_without_clock(line)) + b"\n" for line in lines)


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: 0.5 if name in _CLOCKS and isinstance(one, float) else _without_clock(one)
            for name, one in value.items()
        }
    return [_without_clock(one) for one in value] if isinstance(value, list) else value
