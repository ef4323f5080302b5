import pytest

from planner.state.name import is_key, is_name, is_namespace, not_allowed

GOOD = ("a", "a-b", "a.b-c.d", "0", "job-distill-43a0c", "a" * 63, f"{'a' * 200}.{'b' * 52}")
BAD = (
    *("", "-a", "a-", "--kubeconfig=x", "--server=https://evil.example", "A", "a_b", "a b", "a\n"),
    *("a/b", ".a", "a.", "a..b", "a.-b", "é", "$(id)", "a;b", "a" * 254, "\0", "a\u2028"),
)


@pytest.mark.parametrize("text", GOOD)
def test_names_that_objects_have(text: str) -> None:
    assert is_name(text)
    assert is_key(f"ns/{text}")
    assert not_allowed([f"ns/{text}"]) == ""


@pytest.mark.parametrize("text", BAD)
def test_names_that_no_object_has(text: str) -> None:
    assert not is_name(text)
    assert not is_namespace(text)
    for key in (f"ns/{text}", f"{text}/name"):
        assert not is_key(key)
        assert not_allowed(["ns/fine", key]) == f"{key} is no name that Kubernetes allows"


def test_a_namespace_is_one_label() -> None:
    assert is_namespace("a" * 63)
    assert not is_namespace("a" * 64)
    assert not is_namespace("a.b")
    assert not is_key("a.b/name")
