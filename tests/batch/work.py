"""Work for runs to do; other processes and machines import it by name."""

import ctypes
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.batch import Work
from planner.errors import InputError, InternalError

HOARD = 2**28


def double(number: int) -> Mapping[str, Any]:
    return {"number": number, "double": 2 * number}


def slowly(number: int) -> Mapping[str, Any]:
    time.sleep(0.002 * (number % 7))
    return double(number)


def length(payload: bytes) -> Mapping[str, Any]:
    return {"length": len(payload)}


def loudly(number: int) -> Mapping[str, Any]:
    for stream in (1, 2):
        os.write(stream, b"this is no result\n")
    return double(number)


def variable(name: str) -> Mapping[str, Any]:
    return {"value": os.environ.get(name)}


def fail(word: str) -> Mapping[str, Any]:
    """Fail in the way that the word says."""
    if word == "raise":
        raise ValueError("no\n  such luck")
    if word == "talk":
        raise ValueError("x" * 9999)
    if word == "refuse":
        raise InputError("a.json", "is a pipe", "a file", "look again")
    if word == "bug":
        raise InternalError("two and two is five")
    if word == "no memory":
        raise MemoryError
    if word == "no JSON":
        return {"set": {1}}
    if word == "no number":
        return {"number": float("nan")}
    return {"word": word}


def misbehave(word: str) -> Mapping[str, Any]:
    """Do to the process what the word says."""
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "crash":
        ctypes.string_at(0)
    if word == "leave":
        os._exit(3)
    if word == "sleep":
        time.sleep(3600)
    if word == "hang":  # without letting go of the interpreter's lock
        ctypes.PyDLL(None).sleep(3600)
    if word == "hoard":
        hoard = b"x" * HOARD
        time.sleep(3600)
        return {"bytes": len(hoard)}
    return {"word": word}


def misbehave_and_say(word_and_file: tuple[str, str]) -> Mapping[str, Any]:
    """Make a file where one is named, and do what the word says."""
    word, file = word_and_file
    if file:
        Path(file).touch()
    return misbehave(word)


def die_once(marker: str) -> Mapping[str, Any]:
    """Kill the process that works on it, the first time."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"tried again": True}


def kill_the_parent(number: int) -> Mapping[str, Any]:
    """Kill the Dask worker whose process works on number 5, and look like work otherwise."""
    if number == 5:
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.02)
    return double(number)


_leaked: list[bytes] = []


def leak(size: int) -> Mapping[str, Any]:
    """Keep memory beyond the task, as a library might."""
    _leaked.append(b"x" * size)
    time.sleep(0.2)
    return {"size": size}


def missing_work() -> Work:
    """Return work of a module that other processes do not have."""
    return _Missing()


class _Missing:
    """Work of a module that others do not have."""

    def __call__(self, number: int) -> dict[str, int]:
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return _load_missing, ()


def _load_missing() -> Work:
    raise ModuleNotFoundError("No module named 'nonesuch'")
