"""Values, texts and numbers that nobody expects in a dump, a file or on the command line."""

from random import Random
from typing import Any, Final

MARKUP: Final = "<script>alert(1)</script>"
"""A name that must never be part of a page as it stands."""

TEXTS: Final = (
    *("", " ", "0", "-1", "x", "a/b", "a/b/c", "/", ".", "..", "null", "true", "no", "~", "None"),
    *("\x00", "\x1b[2J\x1b]0;t\x07", "\u202egpj", "\ufeff", "a\nb", "a\rb", "\u2028", "\u00ad"),
    *("é", "e\u0301", "漢字", "\U0001f4a9", "\U000e0041", "a" * 254, "n" * 20_000, "%s%n{0}{x}"),
    *(MARKUP, "'\"`$(id)", "=1+1", "|a|b|", "[link](http://a)", "&amp;", "--all", "-", "{", "["),
    *("nvidia.com/gpu", "cpu", "memory", "pods", "vcore", "root", "root.default", "ROOT", "a.b"),
    *(
        "Any",
        "Never",
        "LowerPriority",
        "LowerOrNewerEqualPriority",
        "MayStopSearch",
        "TryNextFlavor",
    ),
    *("Hold", "HoldAndDrain", "None", "True", "False", "Unknown", "Evicted", "QuotaReserved"),
    *("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1alpha1", "v1", "List"),
    *("Workload", "ClusterQueue", "Cohort", "ResourceFlavor", "Configuration", "ConfigMap"),
)

QUANTITIES: Final = (
    *("0", "1", "-1", "+1", "1.5", ".5", "1.", "1e3", "1E3", "1E", "1e", "1Ei", "8Ei", "9E", "1m"),
    *("0.1m", "1n", "1u", "-9223372036854775808", "9223372036854775807", "9223372036854775808"),
    *("1e400", "1e-400", "1e999999999", "NaN", "Inf", "1 Gi", "1Gib", "0x10", "1_000", "٣", "1,5"),
    *("9" * 400, "0." + "0" * 400 + "1", "16777216Ti", "4611686018427387904", "1e18", "3k", "1K"),
)

TIMES: Final = (
    *("2026-03-08T21:06:00Z", "2026-03-08T21:06:00+14:00", "2026-03-08T21:06:00.999999999Z"),
    *(
        "0001-01-01T00:00:00Z",
        "0000-00-00T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "1969-12-31T23:59:59Z",
    ),
    *("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2026-02-30T00:00:00Z"),
    *("2026-03-08", "2026-03-08T21:06:00", "2026-03-08T24:00:00Z", "2016-12-31T23:59:60Z", "now"),
    *(
        "1773003960",
        "2026-W10-7T21:06:00Z",
        "\uff12\uff10\uff12\uff16-03-08T21:06:00Z",
        "2026-03-08t21:06:00z",
    ),
)

NUMBERS: Final = (
    *(0, 1, -1, 2, 3, 7, 1000, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53 + 1, 2**62),
    *(2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, -(10**30), 10**400),
    *(0.0, -0.0, 0.5, 1.5, 1e300, -1e300, 5e-324, float("inf"), float("-inf"), float("nan")),
)

DURATIONS: Final = (
    "0s",
    "1s",
    "30m",
    "1h:50,4h:10",
    "-1h",
    "1e9h",
    "999999999999h",
    "1h1h",
    "h",
    "0",
)

ANNOTATIONS: Final = (
    *("preemption-planner.io/tier", "preemption-planner.io/last-checkpoint"),
    *("preemption-planner.io/checkpoint-seconds", "preemption-planner.io/milestones"),
    *("preemption-planner.io/min-runtime-seconds", "preemption-planner.io/run-seconds"),
    *("preemption-planner.io/restart-seconds", "kueue.x-k8s.io/priority-boost"),
    *("kueue.x-k8s.io/queue-name", "preemption-planner.io/taken-at"),
)

DEEP: Final = "as deep as "
"""A text that begins so is written as a value nested as deep as it says."""


def text(chance: Random) -> str:
    """Return a text: a word, a quantity, a time, a duration, or one that is made up."""
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(TEXTS)
    if kind < 0.75:
        return chance.choice(QUANTITIES)
    if kind < 0.85:
        return chance.choice(TIMES)
    if kind < 0.9:
        return chance.choice(DURATIONS)
    return "".join(
        chr(chance.choice((9, 34, 65, 0x7F, 0x85, 0xE9, 0x3000, 0x1F600))) for _ in "1234"
    )


def number(chance: Random) -> Any:
    """Return a number: one of the notorious ones, or a small one."""
    return chance.choice(NUMBERS) if chance.random() < 0.7 else chance.randint(-3, 40)


def deep(chance: Random) -> Any:
    """Return a value that is nested; the deepest only say so, for Python itself has its limits."""
    depth = chance.choice((2, 5, 60, 60, 200, 900, 3000, 100_000))
    if depth > 60:
        return f"{DEEP}{depth}"
    value: Any = chance.choice((None, 1, "x", []))
    for _ in range(depth):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def value(chance: Random) -> Any:
    """Return any JSON value."""
    kind = chance.randrange(20)
    made: Any = chance.choice((None, None, True, False, [], {}, [None], [{}], {"name": "x"}))
    if kind < 7:
        made = text(chance)
    elif kind < 12:
        made = number(chance)
    elif kind == 12:
        made = deep(chance)
    elif kind == 13:
        made = {text(chance): value(chance) for _ in range(chance.randint(0, 3))}
    elif kind == 14:
        made = [value(chance) for _ in range(chance.randint(0, 3))]
    return made
