"""Results go to standard output, or to a file that is written whole or not at all."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from planner.cli.output import Target, wants_color
from planner.errors import InputError
from tests.cli.running import call, cluster, process, refused, write
from tests.conftest import FOR_EVER_S
from tests.told import told


def emit(path: Path, text: str = "new\n") -> None:
    Target.choose("plain", path).emit(text)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    old = os.umask(0o027)
    try:
        emit(file)
    finally:
        os.umask(old)
    assert file.read_text("utf-8") == "new\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_an_old_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("old, and longer than the new one\n", encoding="utf-8")
    file.chmod(0o600)
    emit(file)
    assert file.read_text("utf-8") == "new\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["plan.json"]  # noqa: PTH208 - hidden files count


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    emit(link)
    assert link.is_symlink()
    assert target.read_text("utf-8") == "new\n"


def test_failure_half_way_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.json"
    file.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("planner.cli.output.os.fsync", full)
    with pytest.raises(InputError) as caught:
        emit(file)
    told(caught.value)
    assert file.read_text("utf-8") == "old"
    assert os.listdir(tmp_path) == ["plan.json"]  # noqa: PTH208


def test_ctrl_c_just_as_the_new_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, made = tmp_path / "plan.json", os.open
    file.write_text("old", encoding="utf-8")

    def ended(*words: Any, **named: Any) -> int:
        os.close(made(*words, **named))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("planner.cli.output.os.open", ended)
        with pytest.raises(KeyboardInterrupt):
            emit(file)
    assert file.read_text("utf-8") == "old"
    assert os.listdir(tmp_path) == ["plan.json"]  # noqa: PTH208


@pytest.mark.parametrize("verb", ["solve", "explain", "boost"])
def test_state_is_not_written_over(tmp_path: Path, verb: str) -> None:
    path = write(tmp_path, cluster())
    before = path.read_bytes()
    (tmp_path / "link.json").symlink_to(path)
    for state, file in ((path, path), (path, tmp_path / "link.json")):
        told(refused(verb, state, "-o", file))
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["no/such/folder/plan.json", "."])
def test_impossible_targets_are_refused_early(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="folder"):
        Target.choose("plain", tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError) as caught:
        emit(tmp_path / "plan.json")
    told(caught.value)


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()
    emit(pipe)
    reader.join(FOR_EVER_S)
    assert read == ["new\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_minus_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    emit(Path("-"))
    assert capsys.readouterr().out == "new\n"


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm"}, True),
    ],
)
def test_colors(environment: dict[str, str], wanted: bool) -> None:  # noqa: FBT001
    assert wants_color(environment) is wanted


@pytest.mark.parametrize("option", ["-o", "--proof"])
@pytest.mark.parametrize("folder", [False, True])
def test_what_is_read_is_not_overwritten(tmp_path: Path, option: str, *, folder: bool) -> None:
    state = write(tmp_path, cluster())
    before = state.read_bytes()
    said = refused("solve", tmp_path if folder else state, option, state)
    told(said)
    assert state.read_bytes() == before
    beside = tmp_path / "plan.txt"
    assert call("solve", tmp_path if folder else state, "-o", beside).exit_code == 0
    assert call("solve", tmp_path if folder else state, "-o", beside).exit_code == 0


@pytest.mark.parametrize("words", [("check", "-", "-"), ("whatif", "-", "--workload", "-")])
def test_standard_input_is_one_file(words: tuple[str, ...]) -> None:
    said = refused(*words, stdin="{}")
    told(said)


def test_a_file_gets_plain_text_and_nothing_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "plan.txt"
    result = call("solve", write(tmp_path, cluster()), "-o", file)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert file.read_text("utf-8").startswith("preemptor ")


def test_an_error_leaves_the_old_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "plan.txt"
    file.write_text("old", encoding="utf-8")
    result = call("solve", write(tmp_path, cluster()), "--pending", "ns/nobody", "-o", file)
    assert result.exit_code == 2
    assert file.read_text("utf-8") == "old"


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("plan.json", "{"),
        ("plan.html", "<!DOCTYPE html>"),
        ("plan.htm", "<!DOCTYPE html>"),
        ("PLAN.MD", "## `ns/pending`"),
        ("plan.txt", "preemptor "),
        ("plan", "preemptor "),
    ],
)
def test_the_name_of_the_file_says_the_format(tmp_path: Path, name: str, begins: str) -> None:
    file = tmp_path / name
    call("solve", write(tmp_path, cluster()), "-o", file, env={"PLANNER_FORMAT": "plain"})
    assert file.read_text("utf-8").startswith(begins)


def test_the_option_goes_before_the_name(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    call("solve", write(tmp_path, cluster()), "-o", file, "--format", "plain")
    assert file.read_text("utf-8").startswith("preemptor ")


@pytest.mark.parametrize(
    "name",
    [
        "plan.csv",
        "plan.yml",
        "plan.json.gz",
        "plan.jsonl",
        "plan.PDF",
        "plan.sarif",
        "plan.xml",
        "plan.ndjson",
    ],
)
def test_a_format_that_there_is_not(tmp_path: Path, name: str) -> None:
    result = call("solve", write(tmp_path, cluster()), "-o", tmp_path / name)
    assert result.exit_code == 2
    told(result.stderr)
    assert not (tmp_path / name).exists()


def test_an_encoding_without_rules_has_them_in_ascii(tmp_path: Path) -> None:
    file, ascii_only = write(tmp_path, cluster()), {"PYTHONIOENCODING": "ascii"}
    words = ("solve", file, "--format", "table", "--objective", "min-count")
    done = process(*words, env=ascii_only)
    assert done.returncode == 0
    assert "\n -----" in done.stdout
    assert "?" not in done.stdout
    missing = process("solve", tmp_path / "é…", env=ascii_only)
    told(missing.stderr)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs names of open files")
def test_a_pipe_without_a_name_is_written_to() -> None:
    """As ``-o >(COMMAND)`` of a shell gives one."""
    done = process("schema", "plan", "-o", "/dev/stdout")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == call("schema", "plan").stdout
