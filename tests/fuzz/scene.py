"""What one input is made in: its random numbers, its seed, and the files that it comes to need."""

import gzip
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

from tests.fuzz import hostile, octets, structure
from tests.fuzz.seeds import Made, Seed, Stock

Focus = Literal["structure", "bytes", "side", "options", "all"]
FOCI: Final[tuple[Focus, ...]] = ("structure", "bytes", "side", "options", "all")
"""What is odd about an input: values of the state, its bytes, files beside it, words, or all."""
WEIGHTS: Final = (4, 2, 3, 2, 1)
"""How often each: where all is odd, mostly a word is refused, and nothing else is looked at."""

CELLS: Final = (
    "",
    "0",
    "-1",
    "8",
    "1e400",
    "9" * 30,
    "nan",
    "G2|T4",
    "BE",
    "LS",
    "2017-10-09 07:01:55",
)


@dataclass
class Scene:
    """A folder that is being filled, and the words that go with it."""

    chance: Random
    stock: Stock
    kind: str
    focus: Focus
    made: Made
    seed: Seed
    files: dict[str, bytes] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    """Words that some other word calls for."""
    stdin: bytes = b""
    each: bool = False
    """Whether the question is about everybody who waits, and not about one."""
    trace_name: str = ""
    """Which trace the command line names."""

    def odd(self, what: Focus) -> bool:
        """Say whether some part is to be odd this time."""
        return self.focus == what or (self.focus == "all" and self.chance.random() < 0.5)

    def put(self, name: str, data: bytes) -> str:
        """Write a file, and return its name."""
        self.files[name] = data
        return name

    def fresh(self, stem: str, end: str) -> str:
        """Return the name of a file that is not there yet."""
        taken = sum(name.startswith(stem) for name in self.files)
        return f"{stem}{taken or ''}{end}"

    def state(self, stem: str = "state") -> str:
        """Write the state, damaged if it is to be, and return the word that names it."""
        chance = self.chance
        texts = {}
        parts = self.seed.parts
        hit = chance.randrange(len(parts))  # of several files one is damaged
        for at, (name, value) in enumerate(parts):
            wrong = at == hit and self.odd("structure")
            data, end = octets.written(structure.damage(value, chance) if wrong else value, chance)
            if at == hit and self.odd("bytes"):
                data = octets.damage(data, chance, self.other())
            texts[name + end] = data
        if len(texts) == 1 and chance.random() < 0.93:
            [(name, data)] = texts.items()
            if chance.random() < 0.1 and stem == "state" and not self.stdin:
                self.stdin = data
                return "-"
            return self.put(self.fresh(stem, name.removeprefix(name.split(".")[0])), data)
        for name, data in texts.items():
            self.put(f"{stem}/{name}", data)
        return stem

    def lines(self, stem: str = "lines") -> str:
        """Write a file of one value a line: states, or recorded answers."""
        chance = self.chance
        values = [chance.choice(self.stock.lines) for _ in range(chance.choice((1, 1, 2, 3)))]
        if self.odd("structure"):
            values[0] = structure.damage(values[0], chance)
        data = b"".join(octets.as_json(value) + b"\n" for value in values)
        if self.odd("bytes"):
            data = octets.damage(data, chance, self.other())
        if chance.random() < 0.5:
            return self.put(self.fresh(stem, ".jsonl"), data)
        return self.put(self.fresh(stem, ".jsonl.gz"), gzip.compress(data, 1, mtime=0))

    def trace(self, name: str, *, odd: bool) -> str:
        """Write a trace."""
        data = self.stock.traces[name]
        chance = self.chance
        if odd and (self.focus == "bytes" or chance.random() < 0.3):
            data = octets.damage(data, chance, self.other())
        elif odd:
            rows = [line.split(",") for line in data.decode().splitlines()]
            for _ in range(chance.choice((1, 1, 3, 30))):
                row = chance.choice(rows)
                cell = chance.choice((*CELLS, hostile.text(chance)))
                row[chance.randrange(len(row)) :][:1] = [cell]
                row[chance.randrange(len(row))] = cell
            data = "\n".join(map(",".join, rows)).encode("utf-8", "surrogatepass")
        if chance.random() < 0.2:
            return self.put(f"{name}.gz", gzip.compress(data, 1, mtime=0))
        return self.put(name, data)

    def other(self) -> bytes:
        """Return bytes of some other state, to splice with."""
        return octets.as_json(self.chance.choice(self.stock.states).parts[0][1])
