"""Files that cannot be read, and text that is no JSON, no YAML, or too much: one message."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError, ParseError
from planner.reader import MAX_BYTES
from tests.kueue_state import read
from tests.reader.dumps import NOW, cluster_queue, error_of, kueue, listed, write
from tests.told import told

GOOD = listed(cluster_queue())


def test_missing_file(tmp_path: Path) -> None:
    error = error_of(lambda: read(tmp_path / "gone.json"))
    assert error.where == str(tmp_path / "gone.json")
    told(error.found)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "dump.json/inside"])
def test_name_that_no_file_can_have(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "dump.json", GOOD)
    assert error_of(lambda: read(name)).found


@pytest.mark.parametrize(
    "text", [json.dumps(GOOD), f" {json.dumps(GOOD, indent=1)}", "kind: A\na: 1"]
)
def test_a_text_is_no_name(text: str) -> None:
    error = error_of(lambda: read(text))
    told(error.found)
    assert "text.encode()" in error.hint
    assert len(str(error)) < 300  # the text is not quoted


def test_a_file_may_be_named_like_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "[old].json", GOOD)
    assert read("[old].json", now=NOW).cluster_queues


@pytest.mark.parametrize("folder", [False, True])
def test_links_that_lead_nowhere_are_named(tmp_path: Path, *, folder: bool) -> None:
    link = tmp_path / "dump.json"
    link.symlink_to(tmp_path / "gone.json")
    error = error_of(lambda: read(tmp_path if folder else link))
    assert error.where == str(link)
    told(error.found)


@pytest.mark.parametrize("folder", [False, True])
def test_links_in_a_circle_are_named(tmp_path: Path, *, folder: bool) -> None:
    write(tmp_path, "1.json", GOOD)
    link = tmp_path / "2.json"
    link.symlink_to(link)
    assert error_of(lambda: read(tmp_path if folder else link)).where == str(link)


def test_strange_names_are_printed_in_one_ascii_line(tmp_path: Path) -> None:
    error = error_of(lambda: read(tmp_path / "a\nb\udcff.json"))
    assert error.where.isascii()
    assert error.where.isprintable()


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "secret.json", GOOD)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = error_of(lambda: read(path))
    assert error.where == str(path)
    assert error.found == "may not be read"
    assert "permissions" in error.hint


def test_directory_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert error_of(lambda: read(tmp_path)).where == str(tmp_path)


def test_directory_without_files(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "nothing for us")
    error = error_of(lambda: read(tmp_path))
    assert error.where == str(tmp_path)
    assert ".yaml" in error.expected
    assert not error.hint
    (tmp_path / "monday").mkdir()
    told(error_of(lambda: read(tmp_path)).hint)


def test_error_in_a_directory_names_the_file(tmp_path: Path) -> None:
    write(tmp_path, "1.json", GOOD)
    bad = write(tmp_path, "2.json", "{")
    assert error_of(lambda: read(tmp_path, now=NOW)).where.startswith(str(bad))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_and_device_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, Path("/dev/null"), Path("/dev/zero")):
        error = error_of(partial(read, path))
        told(error.found)
        assert "standard input" in error.expected + error.hint


def test_file_beyond_the_bound_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(200 * 2**20)
    error = error_of(lambda: read(path))
    assert isinstance(error, ParseError)
    assert "200 MiB" in error.found
    assert "160 MiB" in error.found
    assert "max_bytes=BYTES" in error.hint


def test_bound_is_160_mib() -> None:
    assert MAX_BYTES == 160 * 1024 * 1024


def test_bound_may_be_set_and_is_the_last_size_that_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "dump.json", GOOD)
    size = path.stat().st_size
    assert len(read(path, now=NOW, max_bytes=size).cluster_queues) == 1
    assert "max_bytes=BYTES" in error_of(lambda: read(path, now=NOW, max_bytes=size - 1)).hint


@pytest.mark.parametrize("bound", ["1M", True, 1.5, None])
def test_a_bound_that_is_no_number_is_named(tmp_path: Path, bound: Any) -> None:
    error = error_of(lambda: read(write(tmp_path, "dump.json", GOOD), max_bytes=bound))
    told((error.where, error.expected))


def test_a_bound_below_nothing_is_refused(tmp_path: Path) -> None:
    error = error_of(lambda: read(write(tmp_path, "dump.json", GOOD), max_bytes=-1))
    told((error.where, error.found))


def test_files_of_a_directory_share_the_bound(tmp_path: Path) -> None:
    size = sum(
        write(tmp_path, f"{name}.json", cluster_queue(name)).stat().st_size for name in "abc"
    )
    assert len(read(tmp_path, now=NOW, max_bytes=size).cluster_queues) == 3
    error = error_of(lambda: read(tmp_path, now=NOW, max_bytes=size - 1))
    assert error.where == str(tmp_path / "c.json")


def test_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "dump.json", GOOD)
    monkeypatch.setattr(Path, "open", lambda *_, **__: io.BytesIO(b" " * 2000))
    assert "more than" in error_of(lambda: read(path, max_bytes=1000)).found


def test_standard_input_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" " * 1001)))
    error = error_of(lambda: read("-", max_bytes=1000))
    assert error.where == "stdin"
    assert "max_bytes=BYTES" in error.hint


@pytest.mark.parametrize("stdin", [None, io.TextIOWrapper(io.BytesIO(b""))])
def test_standard_input_closed_or_empty(monkeypatch: pytest.MonkeyPatch, stdin: Any) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    error = error_of(lambda: read("-"))
    assert error.where == "stdin"
    assert "closed" in error.found or "did the command" in error.hint


def test_gzip_bomb_is_not_unpacked_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "bomb.json.gz", gzip.compress(b" " * (64 * 2**20), 9))
    error = error_of(lambda: read(path, max_bytes=2**20))
    told(error.found)
    assert "max_bytes=BYTES" in error.hint


def test_gzip_bombs_of_a_directory_share_the_bound(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, f"{name}.json.gz", gzip.compress(b" " * 600_000))
    error = error_of(lambda: read(tmp_path, max_bytes=2**20))
    assert error.where == str(tmp_path / "b.json.gz")


WHOLE = gzip.compress(b'{"kind": "List"}' * 100, mtime=0)


@pytest.mark.parametrize(
    "data",
    [
        WHOLE[:-9],
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:20] + b"xxxx" + WHOLE[24:],
        WHOLE[:-8] + b"\0" * 8,
        b"\x1f\x8b",
        b"\x1f\x8bnot gzip at all",
    ],
)
def test_broken_gzip(tmp_path: Path, data: bytes) -> None:
    error = error_of(lambda: read(write(tmp_path, "dump.json.gz", data)))
    assert isinstance(error, ParseError)
    assert "gzip" in error.found


@pytest.mark.parametrize("source", [None, 7])
def test_what_is_no_source_and_no_choice(tmp_path: Path, source: Any) -> None:
    error = error_of(lambda: read(source))
    told(error.found)
    told(error.expected)
    choice: Any = "record"
    error = error_of(lambda: read(write(tmp_path, "1.json", GOOD), now=NOW, requests=choice))
    told((error.where, error.expected))


def test_errors_are_input_errors_with_exit_code_2() -> None:
    assert issubclass(ParseError, InputError)
    assert ParseError.exit_code == 2


QUEUE = json.dumps(cluster_queue())
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGE_BOMB = "a: &a {k: [x, x, x, x, x, x, x, x, x, x]}\n" + "".join(
    f"{new}: &{new} {{" + ", ".join(f"k{i}: *{old}" for i in range(10)) + "}\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)

LISTED = "apiVersion: v1\nitems: []\nkind: List\n"
TAR = io.BytesIO()
with tarfile.open(fileobj=TAR, mode="w") as archive:
    archive.addfile(tarfile.TarInfo("dump.json"))

# name, content, what the place ends with, words of the message, words of the hint
BAD: list[tuple[str, bytes | str, str, str, str]] = [
    ("empty.json", "", "empty.json", "is empty", "delete the file"),
    ("empty.yaml", "", "empty.yaml", "is empty", ""),
    ("blank.json", " \r\n\t ", "blank.json", "is empty", ""),
    ("comment.yaml", "# nothing\n---\n---\n", "comment.yaml", "is empty", ""),
    ("binary.json", b"\x7fELF\0\0\0\xff\xfe", "binary.json", "binary", ""),
    ("zeros.yaml", b"\0" * 5000, "zeros.yaml", "binary", ""),
    ("zip.json", b"PK\x03\x04\x14\0\0\0", "zip.json", "is a zip archive", "into a folder"),
    ("dump.tgz", gzip.compress(TAR.getvalue()), "dump.tgz", "is a tar archive", "into a folder"),
    ("twice.gz", gzip.compress(gzip.compress(b"{}")), "twice.gz", "gzip twice", "gunzip"),
    ("dump.json.bz2", bz2.compress(b"{}"), "dump.json.bz2", "bzip2", "bunzip2"),
    ("dump.json.xz", lzma.compress(b"{}"), "dump.json.xz", "packed with xz", "unxz"),
    ("dump.zst", b"\x28\xb5\x2f\xfd\x04\0\x11\0\0{}", "dump.zst", "packed with zstd", "unzstd"),
    ("bare16le.json", QUEUE.encode("utf-16-le"), "bare16le.json", "UTF-16", "Out-File"),
    ("bare16be.json", QUEUE.encode("utf-16-be"), "bare16be.json", "UTF-16", "Out-File"),
    ("bare32.json", QUEUE.encode("utf-32-le"), "bare32.json", "UTF-16 or UTF-32", ""),
    ("bare32be.json", QUEUE.encode("utf-32-be"), "bare32be.json", "UTF-16 or UTF-32", ""),
    ("utf16.json", QUEUE.encode("utf-16"), "utf16.json", "UTF-16", "Out-File"),
    ("utf16le.json", b"\xff\xfe" + QUEUE.encode("utf-16-le"), "utf16le.json", "UTF-16", "utf8"),
    ("utf16be.json", b"\xfe\xff" + QUEUE.encode("utf-16-be"), "utf16be.json", "UTF-16", "utf8"),
    ("utf32.json", QUEUE.encode("utf-32"), "utf32.json", "UTF-16 or UTF-32", ""),
    ("latin.json", '{\n"kind": "é"}'.encode("latin-1"), "line 2", "0xe9", ""),
    ("latin.yaml", "a: b\nkind: é".encode("latin-1"), "line 2", "0xe9", ""),
    ("warned.json", f"Warning: old\n{QUEUE}", "warned.json", "YAML", 'line 1 is a message, "Warn'),
    ("klog.json", f"{QUEUE}\nW0811 12:00:00.1 7 x.go:7] old\n", "line 2", "not JSON", "2>&1"),
    ("warned.yaml", "a: b\nWarning: x\nWarning: x\n", "line 3", "twice", "line 2 is a message"),
    ("traced.json", f"\n+ kubectl get\n{QUEUE}", "traced.json", "YAML", 'line 2 is a message, "+'),
    ("failed.yaml", "error: You must be logged in", "failed.yaml", "is no dump", '"error: You'),
    ("nothing.yaml", "No resources found.", "nothing.yaml", "did the command", "2>&1"),
    ("shifted.yaml", "kind: A\n  spec: {}", "line 2 column 7", "YAML", "has a line lost its"),
    ("colon.yaml", "a: b\nc: d: e", "line 2 column 5", "YAML", 'a text with ": " in it'),
    ("web.yaml", "a:\u00a0\n\u00a0 b: c\nd: e", "line 2", "YAML", "line 1 has a space of a web"),
    ("fenced.yaml", "```yaml\nkind: A\n```", "line 1 column 1", "YAML", "line 1 is the fence"),
    ("fenced.json", f"Here it is\n~~~\n{QUEUE}", "fenced.json", "YAML", "line 2 is the fence of a"),
    ("asked.yaml", "$ kubectl get cq -o yaml\na: b", "line 2", "YAML", 'line 1 is a command, "$'),
    ("asked.json", f"kubectl get cq\n{QUEUE}", "asked.json", "YAML", 'a command, "kubectl get cq"'),
    ("root.yaml", "me@here:~# kubectl get\na: b", "line 2", "YAML", "line 1 is a command"),
    ("comma.json", '{"a": 1,\n "b": 2,}', "line 2 column 9", "trailing comma", "no comma"),
    ("cut.json", '{"kind": "List", "items": [', "column 27", "not JSON", "interrupted"),
    ("cut-string.json", '{"kind": "Li', "column 12", "not JSON", "interrupted"),
    ("quotes.json", "['a', 'b']", "line 1 column 2", "not JSON", ""),
    ("bare.json", "[1, kind]", "line 1 column 5", "not JSON", ""),
    ("nan.json", '{"a": NaN}', "line 1 column 7", "not JSON", "NaN"),
    ("infinity.json", '{"a": [\n1, Infinity]}', "line 2 column 4", "not JSON", "Infinity"),
    ("minus.json", '{"a": -Infinity}', "line 1 column 8", "not JSON", "Infinity"),
    ("second.json", QUEUE + "\n{]", "line 2 column 2", "not JSON", ""),
    ("tail.json", QUEUE + "\n" + QUEUE + "}", "line 2 column", "not JSON", ""),
    ("late.json", " " * 9000 + QUEUE + "\n\n[" + "1," * 9000 + "]", "line 3", "comma", ""),
    ("digits.json", '{"a": 1' + "0" * 5000 + "}", "line 1 column", "not JSON", ""),
    ("digits.yaml", '{"a": ' + "9" * 5000 + "}\n\n{]", "line 1 column", "not JSON", ""),
    ("surrogate.json", '{"kind": "\\ud800"}', "line 1 column 17", "not JSON", ""),
    ("control.json", '{"kind": "a\nb"}', "line 1", "control character", ""),
    ("deep.json", "[" * 100_000, "line 1 column 202", "nested more than 200 deep", ""),
    ("deep-object.json", '{"a":' * 100_000, "line 1", "nested more than 200 deep", ""),
    ("deep-flow.yaml", "a: " + "[" * 300, "line 1 column 203", "more than 200 deep", ""),
    # Where it is found depends on libyaml, which from 0.2.6 on looks at a thousand brackets first.
    ("deeper-flow.yaml", "a: " + "[" * 100_000, "line 1 column", "more than 200 deep", ""),
    ("deep-map.yaml", "a: " + "{a: " * 100_000, "line 1", "more than 200 deep", ""),
    ("deep-block.yaml", "- " * 5_000 + "x", "line 1 column 401", "more than 200 deep", ""),
    (
        "deep-lines.yaml",
        "\n".join(" " * n + "a:" for n in range(1000)),
        "line 201 column 201",
        "more than 200 deep",
        "",
    ),
    ("bomb.yaml", BOMB, "line 6", "aliases stand for more than", ""),
    ("merge-bomb.yaml", MERGE_BOMB, "line 6", "aliases stand for more than", ""),
    ("self.yaml", "a: &a [*a]", "line 1 column 8", "*a refers to nothing", ""),
    ("unknown-alias.yaml", "a: *b", "line 1 column 4", "*b refers to nothing", ""),
    ("other-document.yaml", "a: &b c\n---\na: *b", "line 3 column 4", "*b refers", ""),
    ("python.yaml", '!!python/object/apply:os.system ["x"]', "column 1", "!!python/object", ""),
    ("python-name.yaml", "a: !!python/name:os.system", "column 4", "!!python/name", ""),
    ("custom.yaml", "a: !vault |\n  x", "line 1 column 4", "the tag !vault", ""),
    ("custom-map.yaml", "a:\n  !Ref {b: c}", "line 2 column 3", "the tag !Ref", ""),
    ("binary.yaml", "a: !!binary aGk=", "line 1 column 4", "the tag !!binary", ""),
    ("timestamp.yaml", "a: !!timestamp 2026-01-01", "column 4", "the tag !!timestamp", ""),
    ("set.yaml", "a: !!set {b, c}", "line 1 column 4", "the tag !!set", ""),
    ("seq-as-map.yaml", "a: !!map [b]", "line 1 column 4", "the tag !!map", ""),
    ("not-int.yaml", "a: !!int b", "line 1 column 4", "the tag !!int", ""),
    ("twice.yaml", "kind: A\nmetadata: {}\nkind: B", "line 3 column 1", '"kind" stands twice', ""),
    ("twice-flow.yaml", "a: {b: 1, c: 2, b: 3}", "line 1 column 17", '"b" stands twice', ""),
    ("put-together.yaml", f"{LISTED}{LISTED}", "line 4 column 1", '"apiVersion"', "line of ---"),
    ("number-key.yaml", "1: a", "line 1 column 1", "the key 1 is not a string", "quotes"),
    ("bool-key.yaml", "on: push", "line 1 column 1", "the key true is not a string", "quotes"),
    ("null-key.yaml", "~: a", "line 1 column 1", "the key null is not", "quotes"),
    ("list-key.yaml", "? [a, b]\n: c", "line 1", "the key a list of 2 is not", "quotes"),
    ("merge.yaml", "a:\n  <<: [b]", "line 2", "<< merges something else", ""),
    ("infinity.yaml", "a: [.inf]", "line 1 column 5", ".inf is not a number JSON knows", ""),
    ("nan.yaml", "a: .NaN", "line 1 column 4", ".NaN is not a number JSON knows", ""),
    ("tab.yaml", "a:\n\t- b", "line 2 column 1", "not YAML", "tabs"),
    ("colons.yaml", "a: b: c", "line 1 column 5", "not YAML", ""),
    ("bracket.yaml", "a: [b\nc: d", "line 2", "not YAML", ""),
    ("control.yaml", "a: \x01", "control.yaml", "not YAML", ""),
    ("escape.yaml", 'a: "\\ud800"', "escape.yaml", "not YAML", ""),
    ("far.yaml", 'a: "\\UFFFFFFFF"', "far.yaml", "not YAML", ""),
    ("template.yaml", "{{ .Values.queue }}", "line 1", "", ""),
]


@pytest.mark.parametrize("row", BAD, ids=[row[0] for row in BAD])
def test_bad_text_ends_in_one_message_with_its_place(
    tmp_path: Path, row: tuple[str, bytes | str, str, str, str]
) -> None:
    name, content, place, found, hint = row
    error = error_of(lambda: read(write(tmp_path, name, content), now=NOW))
    assert isinstance(error, ParseError)
    assert error.where.startswith(str(tmp_path / name))
    assert place in error.where
    assert found in error.found
    assert hint in error.hint


def test_a_comment_with_a_command_is_no_message(tmp_path: Path) -> None:
    text = "a: b\n  # kubectl get\n- c"
    assert not error_of(lambda: read(write(tmp_path, "told.yaml", text), now=NOW)).hint


def test_every_key_of_a_json_object_may_stand_twice_the_last_counts(tmp_path: Path) -> None:
    """As kubectl takes it; YAML is stricter."""
    text = QUEUE.replace('"spec": {}', '"spec": {"cohortName": "a", "cohortName": "b"}')
    (queue,) = read(write(tmp_path, "twice.json", text), now=NOW).cluster_queues
    assert queue.spec.cohort_name == "b"


def test_text_that_looks_like_json_gets_the_json_error_unless_it_is_called_yaml(
    tmp_path: Path,
) -> None:
    broken = '{"kind": "List", "items": [}'
    assert "not JSON" in error_of(lambda: read(write(tmp_path, "a.json", broken))).found
    assert "not JSON" in error_of(lambda: read(write(tmp_path, "a", broken))).found
    assert "not JSON" in error_of(lambda: read(write(tmp_path, "a.yaml", broken))).found
    flow = "{kind: List, items: [}"
    assert "not YAML" in error_of(lambda: read(write(tmp_path, "a", flow))).found
    assert "not YAML" in error_of(lambda: read(write(tmp_path, "b.yaml", flow))).found


def test_deepest_text_that_is_read(tmp_path: Path) -> None:
    """Two levels are the object's own; what is not read may be as deep as the bound allows."""
    deep = "[" * 198 + "]" * 198
    text = json.dumps(kueue("ClusterQueue", "cq", spec={"deep": "HERE"})).replace('"HERE"', deep)
    for name in ("deep.json", "deep.yaml"):
        assert len(read(write(tmp_path, name, text), now=NOW).cluster_queues) == 1
    too_deep = text.replace(deep, f"[[{deep}]]")
    for name in ("deep.json", "deep.yaml"):
        path = write(tmp_path, name, too_deep)
        assert "200 deep" in error_of(partial(read, path)).found
