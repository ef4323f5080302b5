"""Text that is no JSON, no YAML, or too much of either."""

import json
from functools import partial
from pathlib import Path

import pytest

from planner.errors import ParseError
from tests.kueue_state import read
from tests.reader.dumps import NOW, cluster_queue, error_of, kueue, write

QUEUE = json.dumps(cluster_queue())
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGE_BOMB = "a: &a {k: [x, x, x, x, x, x, x, x, x, x]}\n" + "".join(
    f"{new}: &{new} {{" + ", ".join(f"k{i}: *{old}" for i in range(10)) + "}\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)

# name, content, what the place ends with, words of the message, words of the hint
BAD: list[tuple[str, bytes | str, str, str, str]] = [
    ("empty.json", "", "empty.json", "is empty", ""),
    ("empty.yaml", "", "empty.yaml", "is empty", ""),
    ("blank.json", " \r\n\t ", "blank.json", "is empty", ""),
    ("comment.yaml", "# nothing\n---\n---\n", "comment.yaml", "is empty", ""),
    ("binary.json", b"\x7fELF\0\0\0\xff\xfe", "binary.json", "binary", ""),
    ("zeros.yaml", b"\0" * 5000, "zeros.yaml", "binary", ""),
    ("zip.json", b"PK\x03\x04\x14\0\0\0", "zip.json", "binary", ""),
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
