"""One input: made by a seed and a number alone."""

import shlex
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import click

from planner.cli.main import COMMANDS, main
from planner.cli.option import SUFFIXES
from tests.fuzz import kubectl
from tests.fuzz.scene import FOCI, WEIGHTS, Focus, Scene
from tests.fuzz.seeds import Seed, Stock
from tests.fuzz.words import IN_THE_WAY, Maker, maker_of

PLUGIN: Final = kubectl.PLUGIN
READ: Final = "read"
"""Not a command: `planner.read`, as a program in Python calls it."""

ENDLESS: Final = frozenset({"serve", "mcp"})
"""Commands that go on until they are ended: their own tests say what they refuse."""
KINDS: Final = (READ, *(name for name in COMMANDS if name not in ENDLESS), PLUGIN)
CHEAP: Final = frozenset({"laws", "schema"})
"""Commands that read nothing: few inputs are enough."""

ALWAYS: Final = {
    "simulate": ("--time-limit", "--until", "--cycles"),
    "risk": ("--time-limit", "--limit"),
    "import": ("--workloads",),
    "audit": ("--time-limit", "--jobs"),
    "bench": ("--quick", "--rival", "--jobs"),
    "compare": ("--time-limit", "--jobs"),
    "whatif": ("--time-limit", "--set"),
    "apply": ("--yes",),
}
"""Options that every input of a command has: without them it would be long, or of no use."""

BESIDE: Final = frozenset(
    (
        *("--costs", "--assignment", "--script", "--workload", "--nodes", "--shapes"),
        *("--results", "--proof", "--objective", "--set", "--message", "--algorithm"),
    )
)
"""Options that files beside the state come with, and those as intricate as a file."""


WRITTEN: Final = frozenset({"--format", "--output"})
"""Options that are never given by the environment: what is printed where must be known."""


NEVER: Final = frozenset({"--debug", "--resume", "--for", "--metrics"})
"""Options that are not drawn: they print tracebacks, are worth nothing without a file, let a watch
go on, or listen."""

OF_TRACE: Final = {"--nodes": "openb", "--shapes": "philly"}
"""Files that go with one trace only."""

OF_SCHEDULER: Final = {
    "--laws": "yunikorn",
    **dict.fromkeys(("--rules", "--flavors", "--stability", "--stable", "--assignment"), "kueue"),
    **dict.fromkeys(("--joint", "--workload", "--queue"), "kueue"),
}
"""Options that mean something for one scheduler only."""

ASKING: Final = frozenset({"snapshot", PLUGIN, "apply", "steer", "watch"})
"""Commands that ask a cluster."""

OF_ONE: Final = frozenset({"solve", PLUGIN, "boost", "whatif", "explain"})
"""Commands that want to know for whom, where several wait."""

RARE: Final = 0.01
"""How likely an option is that means nothing here, and is refused."""

ODD: Final = 0.3
"""How likely one value is odd where words are to be: of several odd ones only the first is seen."""


class Case(NamedTuple):
    """An input, whole."""

    number: int
    kind: str
    focus: Focus
    words: tuple[str, ...]
    files: dict[str, bytes]
    folders: tuple[str, ...]
    programs: tuple[str, ...]
    environment: dict[str, str]
    stdin: bytes

    @property
    def style(self) -> str:
        """The format that is asked for, or that the name of the file says; the last one counts."""
        found = [w.removeprefix("--format=") for w in self.words if w.startswith("--format=")]
        by_name = SUFFIXES.get(Path(self.output).suffix) if self.output else None
        return found[-1] if found else by_name or "plain"

    @property
    def output(self) -> str | None:
        """The file that the result is to go to, if it is no odd one."""
        found = [w.removeprefix("--output=") for w in self.words if w.startswith("--output=")]
        return found[-1] if found and found[-1].startswith(("out", "made")) else None

    def write(self, folder: Path) -> None:
        """Write all files into a folder."""
        for name in self.folders:
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name in self.programs:
            (folder / name).chmod(0o755)

    def line(self) -> str:
        """Return a line for a shell that does the same, in the folder of the files."""
        settings = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        words = [shlex.quote(word) for word in self.words]
        start = {
            READ: ["python", "-c", "'import planner, sys; planner.read(sys.argv[1])'"],
            PLUGIN: ["kubectl-preemption_plan"],
        }.get(self.kind, ["planner", self.kind])
        fed = ["<", "stdin"] if self.stdin else []
        return " ".join([*settings, *start, *words, *fed])


@cache
def commands() -> dict[str, click.Command]:
    """Return every command by name, from the group itself: a new one cannot be forgotten."""
    context = click.Context(main)
    names = [name for name in main.list_commands(context) if name not in ENDLESS]
    found = {name: main.get_command(context, name) for name in names}
    return {name: one for name, one in found.items() if one} | {PLUGIN: kubectl.plugin()}


@cache
def makers(kind: str) -> tuple[tuple[click.Parameter, Maker], ...]:
    """Return the parameters of a command, each with what makes its values.

    Raises
    ------
    LookupError
        If there is nothing that makes values of one: tests/fuzz/words.py is the place.
    """
    found = []
    for parameter in commands()[kind].params:
        maker = maker_of(kind, parameter)
        if maker is None:
            message = f"nothing makes values of {max(parameter.opts, key=len)} of {kind}"
            raise LookupError(message)
        found.append((parameter, maker))
    return tuple(found)


def make(stock: Stock, seed: int, number: int) -> Case:
    """Make the input of a number."""
    chance = Random(f"{seed}:{number}")  # noqa: S311 - the same input every time
    kind = KINDS[number % len(KINDS)]
    focus = chance.choices(FOCI, WEIGHTS)[0]
    if kind in CHEAP:
        focus = "options"
    made = chance.choice(stock.made)
    beside = kind in {"check", "apply"} or (kind in {"audit", "compare"} and focus == "side")
    chosen = made.seed if beside else chance.choice(_states(stock, kind, chance))
    scene = Scene(chance, stock, kind, focus, made, chosen)
    scene.each = kind in {"solve", PLUGIN} and chance.random() < 0.3
    environment = {"COLUMNS": chance.choice(("", "80", "200", "10", "0", "x"))}
    if kind in ASKING:
        environment |= kubectl.serve(scene)
    if kind == "apply":
        environment["PLANNER_APPLY_WAIT"] = "0"  # nobody would ever admit the preemptor
    if kind in {"steer", "watch"}:
        environment[f"PLANNER_{kind.upper()}_FOR"] = "0"  # it would go on for ever
    words = [scene.state()] if kind == READ else _words(scene, kind, environment)
    if scene.odd("options"):
        scene.folders.append(IN_THE_WAY)
    scene.files["stdin"] = scene.stdin
    return Case(
        number,
        kind,
        focus,
        tuple(words),
        scene.files,
        tuple(scene.folders),
        tuple(scene.programs),
        environment,
        scene.stdin,
    )


def _states(stock: Stock, kind: str, chance: Random) -> tuple[Seed, ...]:
    """Return the states to choose from: commands that know only Kueue seldom get another."""
    if kind in ASKING:
        return stock.kueue
    return stock.kueue if chance.random() < (0.95 if kind == "boost" else 0.65) else stock.yunikorn


def _words(scene: Scene, kind: str, environment: dict[str, str]) -> list[str]:
    arguments: list[str] = []
    options: list[str] = []
    for parameter, maker in makers(kind):
        name = max(parameter.opts, key=len)
        if isinstance(parameter, click.Argument):
            several = scene.chance.choice((1, 1, 1, 2)) if parameter.nargs == -1 else 1
            given = scene.chance.random() < (0.7 if scene.focus == "options" else 1.0)
            if parameter.required or given:
                arguments += [maker(scene, scene.odd("options")) for _ in range(several)]
            continue
        if scene.chance.random() < _share(scene, kind, name):
            times = scene.chance.choice((1, 1, 1, 2)) if parameter.multiple else 1
            if name == "--pending" and times > 1 and scene.chance.random() < 0.95:
                scene.more.append("--joint")
            for _ in range(times):
                options += _option(scene, parameter, maker, environment, kind)
    # What another word calls for, unless it is said: an option is given once.
    said = {word.partition("=")[0] for word in options}
    words = [*(word for word in scene.more if word.partition("=")[0] not in said), *options]
    if scene.odd("options") and scene.chance.random() < 0.04:
        words.append(scene.chance.choice(("--nonesuch", "-x", "--format", "--help", "-h", "extra")))
    if any(word.startswith("-") and word != "-" for word in arguments):
        return [*words, "--", *arguments]
    split = scene.chance.randint(0, len(words))
    return [*words[:split], *arguments, *words[split:]]


def _share(scene: Scene, kind: str, name: str) -> float:
    """Return how likely an option is to be given."""
    if name in NEVER:
        return 0.0
    known = {
        **dict.fromkeys(BESIDE, 0.5 if scene.focus in {"side", "all"} else 0.05),
        **_shares_of_one(scene, kind),
        **dict.fromkeys(ALWAYS.get(kind, ("--time-limit",)), 1.0),
        "--format": 0.7,
        "--queue": RARE,
    }
    if scene.focus == "options":
        known |= dict.fromkeys(ALWAYS.get(kind, ("--time-limit",)), 0.8)
    if OF_SCHEDULER.get(name, scene.seed.scheduler) != scene.seed.scheduler:
        return RARE
    if kind == "import" and name in OF_TRACE:
        return 0.95 if OF_TRACE[name] == scene.trace_name else RARE
    return known.get(name, 0.2 if scene.focus == "options" else 0.05)


def _shares_of_one(scene: Scene, kind: str) -> dict[str, float]:
    """Return how likely the options are by which a command is told for whom."""
    if kind not in OF_ONE:
        return {}
    if scene.each:
        return {"--all": 1.0, "--pending": RARE, "--assignment": RARE}
    return {"--all": RARE, "--pending": 0.85}


def _option(
    scene: Scene, parameter: click.Parameter, maker: Maker, environment: dict[str, str], kind: str
) -> list[str]:
    names = [*parameter.opts, *parameter.secondary_opts]
    longest = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [scene.chance.choice([name for name in names if name.startswith("--")])]
    value = maker(scene, scene.odd("options") and scene.chance.random() < ODD)
    if scene.odd("options") and scene.chance.random() < ODD and longest not in WRITTEN:
        variable = longest.lstrip("-").replace("-", "_").upper()
        command = f"{kind.upper()}_" if kind in COMMANDS else ""
        environment[f"PLANNER_{command}{variable}"] = value
        return []
    return [f"{longest}={value}"]
