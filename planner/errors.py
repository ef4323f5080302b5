"""The exception tree; every class knows the exit code the command line ends with.

PlannerError
├── InputError             2   a file, an object or an option cannot be used
│   ├── ParseError         2   not JSON or YAML, too large, nested too deeply
│   ├── SchemaError        2   a field of an object has a wrong type or value
│   └── LookupFailed       2   a named object (workload, queue, flavor) is not in the state
├── UnsupportedError       2   valid input which the planner cannot decide exactly, and says so
└── InternalError         70   a plan failed its own verification, or another bug of ours

Exit codes that are answers, not errors: 0 proved optimal, 1 findings, 3 proved
infeasible, 4 a plan without proof, 5 no plan within the time limit.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final, Literal, Self

NO_MEMORY: Final = "the system gives no more memory"
"""What the command line says where memory ends."""
CUT_SHORT: Final = "the text ends too early: was the command that wrote it interrupted?"
"""What is asked of JSON or YAML that breaks off."""
AT_MOST: Final = "that are read at most"
"""What is said of a dump that is too large, or has too many values."""
LONGEST_LINE: Final = 1200
"""The most characters in a line of a message: enough for three names and the words around them."""
Kind = Literal["input", "option", "too large", "memory"]
"""What cannot be used: the input, what an option says, or either, as it is too large or there is
not enough memory for it."""
TELL_KIND: Final = "PLANNER_TELL_KIND"
"""The variable under which the command line ends what it says with the kind of the error, on a line
that begins with `KIND`: for programs that run it."""
KIND: Final = "kind: "
LOOP: Final = "a loop over state.pending"
"""How hints name what the command line has an option for: to plan for each that is pending."""
_TAIL: Final = 400
_LONGEST_NAME: Final = 100
_SHORTEST_PART: Final = 3


class PlannerError(Exception):
    """Base of every error the planner raises on purpose."""

    exit_code: ClassVar[int] = 70

    def __str__(self) -> str:
        """Return the message, safe to print on any terminal: it may quote arbitrary input."""
        return "\n".join(map(readable, super().__str__().split("\n")))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the text and the fields as they are: ``__init__`` takes other parameters."""
        return _remade, (type(self), self.args), self.__dict__


class InputError(PlannerError):
    """Input which cannot be used: says where, what was found, what was expected, and a hint.

    ``where`` is the file and the path inside it, such as
    ``dump.json: items[3].spec.podSets[0].count``, and ``found`` says what stands there.
    ``expected`` is what would be right, and ``hint`` what the user can do; either may be empty.
    """

    exit_code: ClassVar[int] = 2
    kind: Kind = "input"

    def __init__(self, where: str, found: str, expected: str = "", hint: str = "") -> None:
        self.where = where
        self.found = found
        self.expected = expected
        self.hint = hint
        super().__init__(str(self))

    def of_kind(self, kind: Kind) -> Self:
        """Return the error as one of a kind."""
        self.kind = kind
        return self

    def __str__(self) -> str:
        """Return the message: the first line says what is wrong, the next two how to mend it."""
        lines = [f"{self.where}: {self.found}" if self.where else self.found]
        if self.expected:
            lines.append(f"  expected {self.expected}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(map(readable, lines))


class ParseError(InputError):
    """The text is not what it should be: not JSON or YAML, too large, nested too deeply."""


class SchemaError(InputError):
    """A field of an object has a wrong type or value."""


class LookupFailed(InputError):  # noqa: N818 - reads as a statement where it is raised
    """A named object (workload, LocalQueue, ClusterQueue, flavor) is not in the state."""


class UnsupportedError(InputError):
    """Valid input which the planner cannot decide exactly; it says so instead of guessing."""


class InternalError(PlannerError):
    """A bug of ours: for instance a plan that failed its own verification."""

    exit_code: ClassVar[int] = 70


def _remade(kind: type[PlannerError], arguments: tuple[object, ...]) -> PlannerError:
    """Rebuild an error without its ``__init__``, whose parameters are not kept."""
    return kind.__new__(kind, *arguments)


def one_line(text: str) -> str:
    """Write a message in one line, as rows of results have it."""
    return "; ".join(" ".join(line.split()) for line in text.splitlines())


def not_json(where: str, error: Exception, expected: str = "") -> ParseError:
    """Return the error about a text that Python's parser refuses.

    Where the text is one line, ``where`` names it, and only a column is said.
    """
    import json  # noqa: PLC0415 - only what is no JSON needs it

    if not isinstance(error, json.JSONDecodeError):
        return ParseError(where, f"is not JSON: {error}", expected)
    if error.pos >= len(error.doc.rstrip()):
        return ParseError(where, "is not JSON: it ends too early", expected)
    line = f"line {error.lineno} " if "\n" in error.doc.strip() else ""
    return ParseError(where, f"is not JSON: {error.msg} at {line}column {error.colno}", expected)


def closest(found: str, choices: Collection[str]) -> str | None:
    """Return the choice that is spelt almost like what was found, or the only one it is in."""
    import difflib  # noqa: PLC0415 - only what is misspelt needs it

    part = found.lower()[:_LONGEST_NAME]
    by_lower = {choice.lower(): choice for choice in choices}
    having = [choice for choice in by_lower if len(part) >= _SHORTEST_PART and part in choice]
    close = difflib.get_close_matches(part, by_lower, n=1) or having
    return by_lower[close[0]] if len(close) == 1 else None


def did_you_mean(found: str, choices: Collection[str]) -> str:
    """Return the hint that names the choice `closest` to what was found; empty if none is."""
    close = closest(found, choices)
    return f'did you mean "{close}"?' if close else ""


def readable(line: str) -> str:
    """Write a line of a message so that it can be printed and read, whatever it quotes.

    A line may quote names of any length. The middle of a line that is too long is left out: the
    end of a line says what is wrong with the names.
    """
    text = line
    if not line.isprintable():
        # Escape what a terminal would obey: control characters, and marks that reverse text.
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[: LONGEST_LINE - _TAIL - 1]}…{text[-_TAIL:]}"
