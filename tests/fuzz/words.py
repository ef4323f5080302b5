"""Words of the command line: a value for every argument and option, by its name or its type."""

import json
from collections.abc import Callable
from typing import Final

import click

from planner.objective.profiles import PROFILES
from tests.fuzz import hostile, side
from tests.fuzz.scene import Scene

Maker = Callable[[Scene, bool], str]
"""Makes a value; the second argument says whether it is to be odd."""

COSTLY_PRESETS: Final = frozenset(
    {"large", "huge", "kueue-baseline", "kueue-large-scale", "yunikorn-large"}
)
"""They do what they promise: a state of this size takes more than an input may."""

IN_THE_WAY: Final = "in-the-way"
"""A folder where a file should be."""

ODD_PATHS: Final = (
    *(
        "",
        "-",
        ".",
        IN_THE_WAY,
        f"{IN_THE_WAY}/x",
        "no/such/file",
        "n" * 300,
        "/dev/null",
        "/dev/full",
    ),
    *("a b", "a\nb", "\u202e", "\udcff", "é", "--all", "state.json/x", "*", "out", "out.json", "~"),
)
RELEASES: Final = ("auto", "main", "0.15.0", "0.16.9", "v0.17.8", "0.18.6", "0.19.2", "0.20.1")
ODD_NUMBERS: Final = (
    *("", " ", "x", "-1", "0", "-0", "+1", " 1", "1.5", "1e3", "0x10", "1_0", "٣", "nan", "inf"),
    *("-inf", "1" + "0" * 18, "-1" + "0" * 18, "9" * 5000, "none", "None", "true", "1;2", "\udcff"),
)


def maker_of(command: str, parameter: click.Parameter) -> Maker | None:
    """Return what makes values of a parameter, None if nothing does."""
    name = max(parameter.opts, key=len)
    by_name = OF_COMMAND.get((command, name)) or BY_NAME.get(name)
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return _trace if name == "trace" else _choice(kind)
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return _number(command, name, kind)
    if isinstance(kind, click.types.BoolParamType):
        return lambda _, __: ""
    return by_name


def _choice(kind: click.Choice) -> Maker:  # type: ignore[type-arg] # generic only in newer versions
    sane = [str(one) for one in kind.choices if one not in COSTLY_PRESETS]

    def make(scene: Scene, odd: bool) -> str:  # noqa: FBT001
        if odd and scene.chance.random() < 0.7:
            return scene.chance.choice((_text(scene), sane[0].upper(), sane[0][:-1], ""))
        return scene.chance.choice(sane)

    return make


def _number(command: str, name: str, kind: object) -> Maker:
    least = getattr(kind, "min", None)
    most = getattr(kind, "max", None)
    if isinstance(kind, click.FloatRange):
        usual: tuple[object, ...] = (least, 0.3, 0.5, most)
    else:
        low = 0 if least is None else max(least, 0)
        usual = tuple(n for n in range(low, low + 7) if most is None or n <= most)
    sane = SANE.get((command, name)) or SANE.get(("", name)) or usual
    beyond = [str(edge) for edge in (least and least - 1, most and most + 1) if edge is not None]

    def make(scene: Scene, odd: bool) -> str:  # noqa: FBT001
        return scene.chance.choice((*ODD_NUMBERS, *beyond) if odd else tuple(map(str, sane)))

    return make


def _text(scene: Scene) -> str:
    """Return a text that can be a word: the system passes no NUL, and no surrogates but its own."""
    said = hostile.text(scene.chance).replace("\x00", "\udcff")
    return said[:5000]


def _of(sane: Callable[[Scene], str], odd: tuple[str, ...] = ()) -> Maker:
    """Return a maker of a text that is usual, one of some odd ones, or any."""

    def make(scene: Scene, is_odd: bool) -> str:  # noqa: FBT001
        if not is_odd:
            return sane(scene)
        return scene.chance.choice(odd) if odd and scene.chance.random() < 0.6 else _text(scene)

    return make


def _one(*values: str) -> Callable[[Scene], str]:
    return lambda scene: scene.chance.choice(values)


def _key(scene: Scene) -> str:
    return scene.chance.choice(scene.seed.keys() or ["a/b"])


def _waiting(scene: Scene) -> str:
    found = scene.seed.pending()
    return scene.chance.choice(found) if found and scene.chance.random() < 0.9 else _key(scene)


def _local_queue(scene: Scene) -> str:
    queue = scene.chance.choice(scene.seed.named("LocalQueue") or [{"metadata": {"name": "x"}}])
    return f"{queue['metadata'].get('namespace', 'default')}/{queue['metadata']['name']}"


def _state(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    name = scene.state()
    return scene.chance.choice((*ODD_PATHS, name)) if odd and scene.chance.random() < 0.3 else name


def _states(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    if scene.chance.random() < 0.2 and scene.focus != "side":
        return scene.lines()
    return _state(scene, odd)


def _recorded(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    name = scene.lines()
    return scene.chance.choice((*ODD_PATHS, name)) if odd and scene.chance.random() < 0.3 else name


def _plan(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    which = scene.chance.choice(("plan.json", "plan.json", "plan.json", "plans.json", "apart.json"))
    data = side.made_file(scene.made, which, scene.chance, damaged=_damaged(scene))
    name = scene.put(which, data)
    if which == "apart.json" and scene.chance.random() < 0.9:
        scene.more.append(f"--proof={_input('trees.jsonl', _trees)(scene, odd)}")
    return scene.chance.choice((*ODD_PATHS, name)) if odd and scene.chance.random() < 0.3 else name


def _trees(scene: Scene) -> bytes:
    return side.made_file(scene.made, "trees.jsonl", scene.chance, damaged=_damaged(scene))


def _trace(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    scene.trace_name = scene.chance.choice(("philly", "openb"))
    return "OPENB" if odd and scene.chance.random() < 0.3 else scene.trace_name


def _trace_file(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    del odd
    name = "philly.csv" if scene.trace_name == "philly" else "openb-pods.csv"
    if scene.chance.random() < 0.05:
        name = "openb-nodes.csv"
    is_odd = scene.focus not in {"side", "options"}
    return scene.trace(name, odd=is_odd)


def _nodes(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    del odd
    return scene.trace("openb-nodes.csv", odd=scene.odd("side"))


def _shapes(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    del odd
    return scene.trace("openb-pods.csv", odd=scene.odd("side"))


def _input(name: str, write: Callable[[Scene], bytes], more: tuple[str, ...] = ()) -> Maker:
    """Return a maker of the name of a file to be read."""

    def make(scene: Scene, odd: bool) -> str:  # noqa: FBT001
        if odd and scene.chance.random() < 0.5:
            return scene.chance.choice(ODD_PATHS)
        if scene.chance.random() < 0.9:
            scene.more.extend(more)
        return scene.put(name, write(scene))

    return make


def _side(name: str, write: side.Writer, more: tuple[str, ...] = ()) -> Maker:
    return _input(
        name, lambda scene: write(scene.seed, scene.chance, damaged=_damaged(scene)), more
    )


def _damaged(scene: Scene) -> bool:
    """Say whether one file beside the state is damaged where such files are to be: not always."""
    return scene.odd("side") and scene.chance.random() < 0.6


def _output(*names: str) -> Maker:
    """Return a maker of the name of a file or folder to be written; it may be there already."""

    def make(scene: Scene, odd: bool) -> str:  # noqa: FBT001
        name = scene.chance.choice(ODD_PATHS if odd else names)
        if scene.chance.random() < 0.2 and name in names and "." in name:
            scene.put(name, BEFORE)
        return name

    return make


BEFORE: Final = b"what was there before\n"
"""What stands in a file before it is written; it must stay if nothing is written."""


def _journal(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    """Name a file of rows: a new one, or one that goes on."""
    if odd and scene.chance.random() < 0.5:
        return scene.chance.choice(ODD_PATHS)
    which = f"{scene.kind}.jsonl"
    if scene.chance.random() < 0.05:
        which = "trees.jsonl"
    if scene.chance.random() < 0.7:
        data = side.made_file(scene.made, which, scene.chance, damaged=_damaged(scene))
        scene.put("rows.jsonl", data)
        scene.more.append("--resume")
    return "rows.jsonl"


def _objective(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    chance = scene.chance
    if (scene.odd("side") and chance.random() < 0.7) or chance.random() < 0.2:
        name = chance.choice((*("mine.toml",) * 8, "min-cost.toml", "é.toml"))
        return scene.put(name, side.profile_file(scene.seed, chance, damaged=_damaged(scene)))
    if odd:
        odds = (
            "pareto:",
            "pareto:workloads",
            "pareto:workloads,workloads",
            "pareto:D99,workloads",
            ".toml",
            "no.toml",
            "NO-REGRET",
        )
        return chance.choice((*odds, _text(scene), _text(scene) + ".toml", f"{IN_THE_WAY}.toml"))
    return chance.choice(tuple(PROFILES))


def _objective_or_front(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    if scene.chance.random() < 0.15:
        return f"pareto:{side.measure(scene.chance)},{side.measure(scene.chance)}"
    return _objective(scene, odd)


def _algorithm(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    if odd:
        return scene.chance.choice(
            ("optimum", "optimum:", "kep83:", "kep83/optimum:x", _text(scene))
        )
    known = ("greedy", "kueue", "yunikorn", "kueue-classical", "kueue-fair", "kueue-fair:final")
    optimum = f"optimum:{_objective(scene, odd)}"
    ruled = (optimum, f"kep83/{optimum}", f"any/{optimum}")
    return scene.chance.choice((*known, "kueue-fair:initial", "kep83", *ruled))


def _suite(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    return _input("suite.json", _suite_of_two)(scene, odd)


def _suite_of_two(scene: Scene) -> bytes:
    """Write a suite of two small states; damaged, what is said of one is not true."""
    chance = scene.chance
    drawn: dict[str, object] = {"preset": "small", "seed": chance.randrange(3)}
    family: dict[str, object] = {"family": "crowd", "numbers": {"small": 3}}
    best: dict[str, object] = {
        "objective": "min-count",
        "status": "optimal",
        "values": {"count": 1},
        "digest": "x",
        "certified": True,
    }
    if _damaged(scene):
        drawn["knobs"] = {"workloads": chance.choice((-1, "x", True))}
        best[chance.choice(tuple(best))] = chance.choice(("", 5, None, _text(scene)))
    cases = [
        {
            "name": name,
            "kind": "classical",
            "size": "small",
            "quick": True,
            "source": source,
            "optima": [best],
        }
        for name, source in (("one", drawn), ("two", family))
    ]
    suite = {"name": "made up", "version": "0", "objectives": ["min-count"], "cases": cases}
    return json.dumps(suite).encode()


def _baseline(scene: Scene) -> bytes:
    """Write findings of an earlier run; damaged, a field of one is not what it should be."""
    one: dict[str, object] = {"code": "KL-11", "family": "useless", "severity": "note"}
    one |= {"title": "x", "objects": ["clusterqueue/a"], "reason": "x", "hint": "x"}
    one["example"] = {"state": {}, "pending": "a/b", "shows": []}
    if _damaged(scene):
        one[scene.chance.choice(tuple(one))] = scene.chance.choice(("", 5, None, [], _text(scene)))
    whole = {"schema": "planner/v1", "scheduler": "kueue", "digest": "x", "findings": [one, one]}
    return json.dumps(whole).encode()


def _edit(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    is_odd = odd or _damaged(scene)
    said = (side.damaged_edit if is_odd else side.edit)(scene.seed, scene.chance)
    return said.replace("\x00", "")


def _message(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    said = scene.chance.choice(side.MESSAGES)
    if odd or _damaged(scene):
        at = scene.chance.randrange(len(said))
        said = said[:at] + _text(scene) + said[at + scene.chance.choice((0, 1, 9)) :]
    return said


def _script(scene: Scene, odd: bool) -> str:  # noqa: FBT001
    written = scene.chance.choice((side.script_file, side.toml_script_file))
    name = "script.json" if written is side.script_file else "script.toml"
    return _side(name, written)(scene, odd)


def _rules(scene: Scene) -> str:
    said = (
        "cohort=LowerPriority",
        "cohort=Never",
        "queue=Never",
        "wait=300",
        "order=ByLongestRuntime",
    )
    return scene.chance.choice(("strict", "kep83", f"kep83:{scene.chance.choice(said)}"))


SECONDS: Final = _of(
    _one("0", "0.2", "1", "2"),
    ("none", "NONE ", "-1", "nan", "inf", "1e308", "1e-320", "1e400", "5 s", "٣", "-0", ""),
)
SIZE: Final = _of(
    _one("200M", "64Mi", "160Mi"),
    ("0", "1", "-1", "100", "1e40", "9E", "1n", "1e-9", "", "9" * 400),
)
MOMENT: Final = _of(
    lambda scene: scene.chance.choice(("2026-11-12T09:42:10Z", "2026-03-08T21:06:00+01:00")),
    hostile.TIMES,
)
KEY: Final = _of(_key, ("/", "a/", "/b", "a/b/c", "*", ""))
CLUSTER: Final = _of(
    _one("nonsense"),
    ("", "tcp://", "http://a:1", "tcp://a:99999999", "tcp://[::1", "tcp:///x", ":1"),
)
"""Only what is no address: nothing here may reach for a network."""

BY_NAME: Final[dict[str, Maker]] = {
    "state": _state,
    "states": _states,
    "--before": _state,
    "--after": _state,
    "plan": _plan,
    "file": _trace_file,
    "files": _recorded,
    "suite": _suite,
    "--rival": _of(_one("greedy", "smallest", "cp-sat", "search"), ("", "x", "GREEDY")),
    "--case": _of(_one("one", "two"), ("", "x")),
    "name": _of(_one("input", "plan", "plans", "script", "laws"), ("PLAN", "")),
    "--pending": _of(_waiting, ("/", "a/", "/b", "a/b/c", "*", "")),
    "--victim": KEY,
    "--set": _edit,
    "--message": _message,
    "--queue": _of(_local_queue, ("/", "a", "a/b/c", "")),
    "--quota": _of(lambda scene: scene.chance.choice(scene.seed.queue_paths() or ["root"]), ("",)),
    "--objective": _objective,
    "--algorithm": _algorithm,
    "--rules": _of(
        _rules, ("kep83:", "kep83:wait=-1", "kep83:order=", "kep83:x=y", "KEP83", "strict:")
    ),
    "--time-limit": SECONDS,
    "--state-time-limit": _of(_one("30", "none"), ("0", "-1", "nan", "1e308", "x")),
    "--timeout": _of(_one("20", "none"), ("0", "-1", "nan", "1e308", "1e-9", "x")),
    "--state-memory-limit": _of(_one("4G"), ("0", "-1", "1", "9E", "x")),
    "--yunikorn-release": _of(
        _one("1.6.3", "1.7.0", "1.8.0", "1.9.0"), ("", "x", "1.5", "v1", "auto")
    ),
    "--kueue-release": _of(_one(*RELEASES), ("", "x", "0.18", "0.1.0", "v", "AUTO", "9" * 5000)),
    "--max-size": SIZE,
    "--now": MOMENT,
    "--at": _of(_one("2025-03-04T16:14:50Z", "2023-01-01T01:00:00Z"), hostile.TIMES),
    **dict.fromkeys(("--interval", "--resync"), _of(_one("0", "1"), ("-1", "nan", "x", "none"))),
    "--for": _of(_one("0")),
    "--metrics": _of(_one("x")),
    "--record": _output("kept", "kept.d"),
    "--patience": _of(_one("0", "5", "none"), ("-1", "nan", "x", "")),
    "--wait": _of(_one("0"), ("-1", "nan", "x", "", "1e308x")),
    "--cluster": CLUSTER,
    "--yunikorn": _of(
        _one("http://127.0.0.1:1"), ("", "tcp://a", "http://", "http://[::1", "http://127.0.0.1:x")
    ),
    "--cluster-wait": _of(_one("5", "none"), ("0", "-1", "nan", "1e308", "x")),
    "--costs": _side("costs.json", side.costs_file, ("--objective=min-cost",)),
    "--assignment": _side("assignment.json", side.assignment_file),
    "--script": _script,
    "--workload": _side("job.yaml", side.manifest_file),
    "--nodes": _nodes,
    "--shapes": _shapes,
    "--results": _journal,
    "--output": _output("out", "out.json", "out.html", "out.csv"),
    "--timeline": _output("events.jsonl"),
    "--plot": _output("plot.svg", "plot.png"),
    "--table": _output("table.csv", "table.parquet"),
    "--plots": _output("plots", "plots.d"),
    "--examples": _output("examples"),
    "--ignore": _of(_one("KL-01", "KL-11", "YL-01"), ("", "KL-1", "KL-99", "kl-01", "KL-01,KL-02")),
    "--baseline": _input("baseline.json", _baseline),
    "--proof": _output("trees.out"),
    "--context": _of(_one("here")),
    "--as": _of(_one("ada")),
    "--request-timeout": _of(_one("30s")),
    "--kubeconfig": _of(_one("kube.config")),
    "--namespace": _of(_one("team", "ns", "default")),
    "--in": _of(_one("team", "ns", "default")),
    "--lease": _of(_one("preemption-planner-steer/steer"), ("", "/", "a", "a/b/c", "-a/b")),
    "--configuration": _of(
        _one("kueue-system/kueue-manager-config"), ("", "/", "a", "a/b/c", "-a/b")
    ),
    "--factor": _of(
        _one("0.55:1.15", "1:1"), ("", ":", "1:0", "nan:nan", "0:inf", "-1:1", "1:1:1")
    ),
    "--priorities": _of(
        _one("0:0.5,50:0.5", "1:1"), ("", ":", "1:0", "x:1", "1:nan", "1:1,1:1", "1:-1")
    ),
}
"""Makers by option, or by argument; numbers and choices need none, their type says it all."""

OF_COMMAND: Final[dict[tuple[str, str], Maker]] = {
    ("check", "--proof"): _input("trees.jsonl", _trees),
    ("bench", "--results"): _output("rows.jsonl"),
    # Without a limit it goes through all boosts that there are, as it is told to.
    ("boost", "--time-limit"): _of(_one("0", "0.2", "1", "2"), ("-1", "nan", "5 s", "٣", "-0", "")),
    ("solve", "--objective"): _objective_or_front,
    ("kubectl preemption-plan", "--objective"): _objective_or_front,
    ("import", "--output"): _output(
        "made.json", "made.jsonl", "made.jsonl.gz", "made", "made.yaml"
    ),
    ("generate", "--output"): _output(
        "made.json", "made.jsonl", "made.jsonl.gz", "made", "made.yaml"
    ),
}
"""Makers where the same option means something else in one command."""

SANE: Final[dict[tuple[str, str], tuple[object, ...]]] = {
    ("simulate", "--until"): (0, 30, 600, 7200),
    ("simulate", "--cycles"): (1, 50, 300),
    ("simulate", "--eviction"): (1, 30),
    ("import", "--workloads"): (1, 10, 60),
    ("import", "--gang"): (1, 2, 8),
    ("import", "--follow"): (0, 600, 86_400),
    ("generate", "--workloads"): (1, 10, 30),
    ("generate", "--age"): (10, 200),
    ("generate", "--fill"): (50, 100, 110),
    ("audit", "--jobs"): (1,),
    ("bench", "--jobs"): (1,),
    ("compare", "--jobs"): (1,),
    ("", "--seed"): (0, 1, 2**31, -1),
}
"""Numbers that make an input interesting, and not only long."""
