"""YAML scalars mean what they mean to Kubernetes, with either of PyYAML's parsers."""

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.errors import CUT_SHORT, ParseError
from planner.reader import yaml_text
from planner.reader.yaml_text import parse_yaml


@pytest.fixture(params=["C", "Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "C" and not yaml.__with_libyaml__:
        pytest.skip("PyYAML has no libyaml here")
    chosen = yaml.CSafeLoader if request.param == "C" else yaml.SafeLoader
    monkeypatch.setattr(yaml_text, "_LOADER", chosen)


def value_of(text: str) -> Any:
    (value,) = parse_yaml(text, "here")
    return value


def typed(value: Any) -> tuple[type, Any]:
    return type(value), value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(text, None) for text in ("", "~", "null", "Null", "NULL")],
        *[(text, True) for text in ("true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y")],
        *[(text, False) for text in ("false", "False", "no", "NO", "off", "Off", "n", "N")],
        *[("0", 0), ("12", 12), ("-12", -12), ("+12", 12), ("1_000", 1000)],
        *[("010", 8), ("0o10", 8), ("0x1F", 31), ("-0x1f", -31), ("0b101", 5)],
        *[("1.5", 1.5), ("-.5", -0.5), (".5", 0.5), ("1e-3", 0.001), ("2.5E+1", 25)],
        *[("1.", 1), ("1.0", 1), ("08", 8), ("1e3", 1000), ("1e21", 1e21)],
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_plain_scalar_that_is_no_string(text: str, value: Any) -> None:
    assert typed(value_of(f"a: {text}")["a"]) == typed(value)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-03-08", "2026-03-08T21:06:00Z", "21:06:00", "1:30", "190:20:30.15"),
        *("1.5Gi", "500m", "8Gi", "1k", "v1beta2", "1.2.3", "0x", "0b2", "0o8", "1e", "1e400"),
        *("nUll", "tRue", "none", "None", "-", "--", "+", "yess", "1_a", "\uff11"),
        *("9" * 1001, ".a", "-a", "=", "<<", "kueue.x-k8s.io/v1beta2"),
    ],
)
def test_plain_scalar_that_is_a_string(text: str) -> None:
    (value,) = value_of(f"[{text}]" if text != "-" else '["-"]')
    assert typed(value) == (str, text)


@pytest.mark.parametrize("quoted", ["'{}'", '"{}"', "!!str {}", "! {}", "|-\n  {}", ">-\n  {}"])
@pytest.mark.parametrize("text", ["1", "true", "null", "010", "1.5", "on"])
def test_quoted_scalar_is_a_string(quoted: str, text: str) -> None:
    assert value_of("a: " + quoted.format(text)) == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [("!!int 5", 5), ("!!float 5", 5), ("!!float 1.5", 1.5), ("!!bool yes", True)],
)
def test_core_tags_say_what_is_there_anyway(text: str, value: Any) -> None:
    assert typed(value_of(f"a: {text}")["a"]) == typed(value)


def test_collections() -> None:
    text = "a: [b, {c: d}]\ne:\n- f\n-\n  - g\nh: {}\ni: []\n!!str j: !!seq [!!map {k: l}]\n"
    assert value_of(text) == {
        "a": ["b", {"c": "d"}],
        "e": ["f", ["g"]],
        "h": {},
        "i": [],
        "j": [{"k": "l"}],
    }


def test_aliases_stand_for_what_they_name() -> None:
    text = "a: &x {b: [1]}\nc: *x\nd: &x e\nf: [*x, *x]\n&k g: *k\n"
    assert value_of(text) == {"a": {"b": [1]}, "c": {"b": [1]}, "d": "e", "f": ["e", "e"], "g": "g"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{<<: *one, b: 3}", {"a": 1, "b": 3}),
        ("{b: 3, <<: *one}", {"a": 1, "b": 3}),
        ("{<<: [*two, *one]}", {"a": 9, "b": 2, "c": 8}),
        ("{<<: [*one, *two]}", {"a": 1, "b": 2, "c": 8}),
        ('{"<<": 5}', {"<<": 5}),
    ],
)
def test_merge_keys_fill_in_what_is_not_there(text: str, value: Any) -> None:
    whole = f"one: &one {{a: 1, b: 2}}\ntwo: &two {{a: 9, c: 8}}\nhere: {text}\n"
    assert value_of(whole)["here"] == value


def test_many_merges_into_many_keys_take_no_longer_than_both() -> None:
    """Copying the keys for every merge would take minutes."""
    keys = ", ".join(f"k{number}: 1" for number in range(20_000))
    text = f"a: &a {{b: 1}}\nc: {{{keys}, <<: [{', '.join(['*a'] * 20_000)}]}}\n"
    start = time.thread_time()
    assert len(value_of(text)["c"]) == 20_001
    assert time.thread_time() - start < 20


@pytest.mark.parametrize("text", ["a: b\nfoo", "a: [1,", "a: 'x", "- {b: 1"])
def test_a_text_that_breaks_off_is_asked_about(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_yaml(text, "file")
    assert caught.value.hint == CUT_SHORT
    with pytest.raises(ParseError) as caught:
        parse_yaml(f"{text}\n", "file")  # its last line is whole
    assert caught.value.hint != CUT_SHORT


def test_documents_and_empty_ones() -> None:
    assert parse_yaml("---\na: 1\n---\n---\n- b\n...\n", "here") == [{"a": 1}, None, ["b"]]
    assert parse_yaml("", "here") == []
    assert parse_yaml("# nothing\n", "here") == []


WRITABLE = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")))
NUMBERS = st.integers() | st.floats(allow_infinity=False, allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | WRITABLE,
    lambda inner: st.lists(inner) | st.dictionaries(WRITABLE, inner),
    max_leaves=10,
)


def same(found: Any, written: Any) -> bool:
    """Compare, where a whole float may have become an integer, as on its way through JSON."""
    if isinstance(written, dict):
        return found.keys() == written.keys() and all(same(found[k], written[k]) for k in written)
    if isinstance(written, list):
        return len(found) == len(written) and all(map(same, found, written))
    return bool(found == written) and isinstance(found, bool) == isinstance(written, bool)


@given(JSON.filter(lambda value: value is not None))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_is_yaml(value: Any) -> None:
    assert same(value_of(json.dumps(value, ensure_ascii=False)), value)


@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`# \n\t1.<~"), max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_values_or_an_error(text: str) -> None:
    try:
        assert isinstance(parse_yaml(text, "here"), list)
    except ParseError as error:
        assert error.where.startswith("here")  # noqa: PT017 - both outcomes are right
