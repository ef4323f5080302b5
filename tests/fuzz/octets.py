"""Values as bytes (JSON, YAML, gzip), and damage to bytes that knows nothing of values."""

import gzip
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

import yaml

from tests.fuzz import hostile

TRAP: Final = "HACKED"
"""A file that is there only if somebody ran what a YAML tag says."""

_LAUGHS: Final = b"\na0: &a0 [x, x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
)
"""A short YAML text that stands for a very long one."""

_SNIPPETS: Final = (
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\x1b[2J"),
    *(b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"\n", b"\r"),
    *(b"\t", b"---\n", b"...\n", b"# ", b"- ", b": ", b"? ", b"|\n", b">\n", b"%YAML 9.9\n---\n"),
    *(b"&a ", b"*a", b"<<: *a\n", b"!!binary ", b"!!timestamp ", b"!!set {a, b}", b"!!float .nan"),
    *(b"!!python/object/apply:os.system ['touch " + TRAP.encode() + b"']", b"!<tag:x> ", b"!"),
    *(b"null", b"NaN", b"-Infinity", b"1e999", b"0123", b"0o17", b"1_000", b"12:30:45", b"=", b"~"),
    *(
        b"9" * 5000,
        b"[" * 2000,
        b'{"a":' * 2000,
        b"- " * 500,
        b"a: " * 60,
        b" " * 5000,
        b"\n" * 5000,
    ),
    _LAUGHS,
    b"\na: &a [*a]\n",
    b'{"a": 1, "a": 2}',
)
_DEEP: Final = re.compile(f'"{hostile.DEEP}(\\d+)"')
_MARKS: Final = ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7")


def as_json(value: Any, chance: Random | None = None) -> bytes:
    """Write JSON, with what JSON does not have if it is in the value."""
    indent = chance.choice((None, None, 1)) if chance else None
    ascii_only = chance is None or chance.random() < 0.7
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    text = _DEEP.sub(lambda found: _nested(int(found[1])), text)
    return text.encode("utf-8", "surrogatepass")


def _nested(depth: int) -> str:
    return "[" * depth + "]" * depth if depth % 1000 else '{"a":' * depth + "0" + "}" * depth


def as_yaml(value: Any) -> bytes:
    """Write YAML; with it, everything that stands at two places is an alias."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8", "surrogatepass")


def written(value: Any, chance: Random) -> tuple[bytes, str]:
    """Write a value as one of the forms that are read; return the bytes and the end of the name."""
    kind = chance.random()
    if kind < 0.12:
        try:
            return as_yaml(value), ".yaml"
        except (RecursionError, ValueError, yaml.YAMLError):  # what YAML cannot say
            return as_json(value, chance), ".yaml"
    data = as_json(value, chance)
    if kind < 0.2:
        return gzip.compress(data, 1, mtime=0), ".json.gz"
    return data, ".json"


def damage(data: bytes, chance: Random, other: bytes = b"") -> bytes:
    """Return bytes with some damage; ``other`` is what pieces may come from."""
    if data.startswith(b"\x1f\x8b") and chance.random() < 0.5:
        return gzip.compress(damage(gzip.decompress(data), chance, other), 1, mtime=0)
    for _ in range(chance.choice((1, 1, 1, 1, 2, 4))):
        data = chance.choice(_WAYS)(data, chance, other)
    return data


def _at(data: bytes, chance: Random) -> int:
    return chance.randint(0, len(data))


def _flip(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes((data[at] ^ (1 << chance.randrange(8)),)) + data[at + 1 :]


def _overwrite(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    at = _at(data, chance)
    return data[:at] + bytes((chance.randrange(256),)) + data[at + 1 :]


def _misspell(data: bytes, chance: Random, other: bytes) -> bytes:
    """Change a letter or a digit: what is read stays well-formed mostly."""
    del other
    tried = [chance.randrange(len(data)) for _ in range(20 if data else 0)]
    for at in tried:
        if data[at : at + 1].isalnum():
            letter = chance.choice((b"0", b"9", b"x", b"A", b"", b"-", b".", b"e"))
            return data[:at] + letter + data[at + 1 :]
    return data


def _cut(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    at = _at(data, chance)
    return data[:at] + data[at + chance.choice((1, 1, 2, 9, 100, 10_000)) :]


def _end(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    return data[: _at(data, chance)]


def _insert(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    at = _at(data, chance)
    return data[:at] + chance.choice(_SNIPPETS) + data[at:]


def _insert_line(data: bytes, chance: Random, other: bytes) -> bytes:
    """Insert at the beginning of a line, where YAML listens most, or after a colon."""
    del other
    marks = [at + 1 for at, byte in enumerate(data[:200_000]) if byte in b"\n:"] or [0]
    at = chance.choice(marks)
    return data[:at] + chance.choice(_SNIPPETS) + data[at:]


def _repeat(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    start = _at(data, chance)
    piece = data[start : start + chance.choice((1, 10, 100, 2000))]
    return data[:start] + piece * chance.choice((1, 2, 20)) + data[start:]


def _splice(data: bytes, chance: Random, other: bytes) -> bytes:
    return data[: _at(data, chance)] + other[_at(other, chance) :]


def _twice(data: bytes, chance: Random, other: bytes) -> bytes:
    return data + chance.choice((b"", b"\n", b"\n---\n", b"\x00", b",")) + (other or data)


def _recode(data: bytes, chance: Random, other: bytes) -> bytes:
    del other
    return data.decode("utf-8", "replace").encode(chance.choice(_MARKS), "replace")


def _pack(data: bytes, chance: Random, other: bytes) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    kind = chance.randrange(5)
    if kind == 0:
        return packed[: _at(packed, chance)]
    if kind == 1:
        return packed + chance.choice((b"\x00" * 20, b"junk", gzip.compress(other), packed))
    if kind == 2:
        return _flip(packed, chance, other)
    return gzip.compress(packed, 1, mtime=0) if kind == 3 else packed


def _nothing(data: bytes, chance: Random, other: bytes) -> bytes:
    del data, other
    return chance.choice((b"", b"\n", b"\x1f\x8b", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b'""'))


_WAYS: Final[tuple[Callable[[bytes, Random, bytes], bytes], ...]] = (
    *(_misspell,) * 12,
    *(_flip, _flip, _overwrite, _overwrite, _cut, _cut, _end, _insert, _insert, _insert_line),
    *(_insert_line, _repeat, _splice, _twice, _recode, _pack, _nothing),
)
