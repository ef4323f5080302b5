"""Options of commands, declared in a line or two, and how the values of many of them are read."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, overload

import click
from click.core import augment_usage_errors

Value = TypeVar("Value")
if TYPE_CHECKING:
    Kind = Callable[[str], Value] | click.ParamType[Value]
    """What reads the text of an option."""

NO_LIMIT: Final = "none"
LOOPBACK: Final = "127.0.0.1"
MOST_PORTS: Final = 65535
_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *(ms|[smhdw])")
_SECONDS_OF: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Command(click.Command):
    """A command whose options are given once each, but those that take several values.

    click would take the last of two values without a word. A flag may be repeated, as it says the
    same again; one that has an opposite may not.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words of the command line apart; refuse a second value."""
        with augment_usage_errors(ctx):  # every error names the command whose help has the option
            _, _, order = self.make_parser(ctx).parse_args(list(args))
        for one in {} if ctx.resilient_parsing else dict.fromkeys(order):
            same_again = isinstance(one, click.Option) and one.is_flag and not one.secondary_opts
            if order.count(one) > 1 and not (same_again or one.multiple):
                names = "/".join([max(one.opts, key=len), *one.secondary_opts])
                ctx.fail(f"{names} is given {order.count(one)} times, and takes one value.")
        return super().parse_args(ctx, args)


class Valued(click.Option):
    """An option that takes no empty value, which most often is a shell variable that is not set.

    What is wrong with a value of the environment names its variable.
    """

    def type_cast_value(self, ctx: click.Context, value: object) -> object:
        """Read the value, or values, as text; refuse an empty one."""
        for text in value if isinstance(value, tuple | list) else (value,):
            if isinstance(text, str) and not text.strip():
                raise click.BadParameter(
                    "the value is empty: leave the option out, or see whether its shell variable "
                    "is set",
                    ctx,
                    self,
                )
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            source = ctx.get_parameter_source(self.name or "")
            if source is click.core.ParameterSource.ENVIRONMENT:
                names = [self.envvar] if isinstance(self.envvar, str) else self.envvar or ()
                said = next((name for name in names if os.environ.get(name)), "the environment")
                found = f"{value!r} is neither true nor false" if self.is_flag else error.message
                why, meant, name = found.partition(" Did you mean ")
                why = f"{why.rstrip('.')}; {said} says so{'.' if meant else ''}{meant}{name}"
                raise click.BadParameter(why, error.ctx, error.param) from None
            raise


def _in_seconds(text: str) -> str:
    """Return the seconds of a duration such as 5s, 1.5h or 250ms; any other text as it is."""
    found = _DURATION.fullmatch(text.strip().lower())
    return f"{float(found[1]) * _SECONDS_OF[found[2]]:.15g}" if found else text


Bound = TypeVar("Bound", int, float)
Range = click.IntRange | click.FloatRange
Param = click.Parameter | None
Context = click.Context | None


def _converted(
    convert: Callable[..., Bound], given: Range, of: str, text: object, where: tuple[Param, Context]
) -> Bound:
    """Read a number, which may be a duration if it is ``of`` seconds; refuse one beyond bounds."""
    with suppress(click.BadParameter):
        found = convert(_in_seconds(text) if of and isinstance(text, str) else text, *where)
        if not math.isnan(found):  # for click this is within all bounds
            return found
    what = "a whole number" if isinstance(given, click.IntRange) else "a number"
    of = f" of {of}" if of else ""
    said = f"{str(text)!r} is not {what}{of}{_between(given.min, given.max)}."
    raise click.BadParameter(said, ctx=where[1], param=where[0])


class Whole(click.IntRange):
    """A whole number within bounds, if there are any; ``of`` seconds it may be a duration, 2h."""

    def __init__(self, least: int | None = None, most: int | None = None, of: str = "") -> None:
        super().__init__(least, most)
        self._of = of

    def convert(self, value: object, param: Param, ctx: Context) -> int:
        """Read the number."""
        return int(_converted(super().convert, self, self._of, value, (param, ctx)))

    def _describe_range(self) -> str:
        """Return the bounds for the help, which has none where there are none."""
        return "" if self.min is None is self.max else super()._describe_range()


class Number(click.FloatRange):
    """A number within bounds, perhaps with a fraction; ``of`` seconds it may be a duration."""

    def __init__(self, least: float, most: float, of: str = "") -> None:
        super().__init__(least, most)
        self._of = of

    def convert(self, value: object, param: Param, ctx: Context) -> float:
        """Read the number."""
        return _converted(super().convert, self, self._of, value, (param, ctx))


def _between(least: float | None, most: float | None) -> str:
    """Return the words, after a space, for bounds; empty if there are none."""
    if least is None:
        return "" if most is None else f" up to {most}"
    return f", {least} or more" if most is None else f" from {least} to {most}"


class Valuing(Protocol):
    """A run of a command: the values of its parameters, by their names."""

    values: Mapping[str, Any]


class Option(Generic[Value]):
    """An option or argument: an attribute of the class of a command's runs, which names it.

    On a run it is the value that was given.
    """

    def __init__(self, kind: Callable[..., click.Parameter], *flags: str, **how: object) -> None:
        self._kind, self._flags, self._how = kind, flags, how

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute."""
        self._name = name

    @overload
    def __get__(self, given: None, owner: type) -> Option[Value]: ...
    @overload
    def __get__(self, given: Valuing, owner: type) -> Value: ...
    def __get__(self, given: Valuing | None, owner: type) -> Option[Value] | Value:
        """Return the value in a run, or of the class the option itself."""
        return self if given is None else given.values[self._name]

    def parameter(self) -> click.Parameter:
        """Return what click knows it as."""
        return self._kind([*self._flags, self._name], **self._how)


def argument(metavar: str, kind: Kind[Value]) -> Option[Value]:
    """Return an argument that has to be given; the help calls it ``metavar``."""
    return Option(click.Argument, metavar=metavar, type=kind)


def optional_argument(metavar: str) -> Option[str | None]:
    """Return an argument that may be left out."""
    return Option(click.Argument, metavar=metavar, required=False)


def arguments(metavar: str, *, required: bool = False) -> Option[tuple[str, ...]]:
    """Return an argument for any number of texts, at least one if it is ``required``."""
    return Option(click.Argument, metavar=metavar, nargs=-1, required=required)


def _valued(name: str, default: object, **how: object) -> Option[Any]:
    """Return an option with a value; see `one`."""
    words = name.split()
    flags = [word.rstrip(",") for word in words if word.startswith("-")]
    if default is not None:
        how = {"default": default, "show_default": True, **how}
    metavar = " ".join(words[len(flags) :]) or None
    return Option(Valued, *flags, metavar=metavar, **how)


@overload
def one(
    name: str, kind: Kind[Value], covers: str, default: None = None, **how: object
) -> Option[Value | None]: ...
@overload
def one(
    name: str, kind: Kind[Value], covers: str, default: object, **how: object
) -> Option[Value]: ...
def one(name: str, kind: object, covers: str, default: object = None, **how: object) -> Option[Any]:
    """Return an option with a value of a kind, such as `Whole`; ``covers`` is its help.

    ``name`` may have a word for the value, as ``-n, --namespace NAME`` has; without, the help names
    its kind. It shows a default, too. ``how`` is as click takes it.
    """
    return _valued(name, default, type=kind, help=covers, **how)


def several(
    name: str, kind: Kind[Value], covers: str, default: Sequence[object] | None = None
) -> Option[tuple[Value, ...]]:
    """Return an option like `one` that may be given several times."""
    return _valued(name, default, type=kind, help=covers, multiple=True)


def file(name: str, covers: str, *, first: bool = False) -> Option[Path | None]:
    """Return an option that takes the name of a file; ``covers`` is its help.

    With ``first`` it is read before the other options.
    """
    return one(f"{name} FILE", click.Path(path_type=Path), covers, is_eager=first)


def flag(name: str, covers: str) -> Option[bool]:
    """Return an option without a value."""
    return Option(Valued, *name.split(", "), is_flag=True, help=covers)


def either(name: str, covers: str) -> Option[bool | None]:
    """Return an option that says yes as ``--NAME`` and no as ``--no-NAME``; else it is None."""
    return Option(Valued, f"--{name}/--no-{name}", default=None, help=covers)


def seconds(text: str) -> float | None:
    """Read seconds, 0 or more, or a duration such as 5s or 1.5h; ``None`` for the word ``none``."""
    if text.strip().lower() == NO_LIMIT:
        return None
    try:
        value = float(_in_seconds(text))
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        said = f"{text!r} is not a number of seconds, 0 or more, a duration such as 5m, or"
        raise click.BadParameter(f"{said} {NO_LIMIT}.")
    return value


def size(text: str) -> int:
    """Read a number of bytes such as 1000000, 200M or 64Mi."""
    from planner.quantity import QuantityError, parse_quantity, to_units

    try:
        value = to_units(parse_quantity(text), "bytes")
    except QuantityError:
        value = 0
    if value <= 0:
        raise click.BadParameter(f"{text!r} is not a size such as 1000000, 200M or 64Mi")
    return value


def address(text: str) -> tuple[str, int]:
    """Read HOST:PORT, or :PORT on loopback."""
    host, colon, port = text.rpartition(":")
    is_port = port.isascii() and port.isdecimal() and len(port) <= len(str(MOST_PORTS))
    if not colon or not is_port or int(port) > MOST_PORTS:
        raise click.BadParameter(f"{text!r} is neither :PORT nor HOST:PORT")
    return host.strip("[]") or LOOPBACK, int(port)


def moment(text: str) -> datetime:
    """Read an RFC 3339 timestamp."""
    from planner.state import parse_time

    try:
        return parse_time(text)
    except ValueError:
        example = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise click.BadParameter(f"{text!r} is not {example}") from None
