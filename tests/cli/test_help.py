"""Help, version, completion: quick, complete, and the same for every command."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from planner.cli.exit_code import MEANINGS, POINTER
from planner.cli.main import COMMANDS, SECTIONS, main
from tests.cli.running import call, environment, refused

HEAVY = {"numpy", "ortools", "pandas", "pydantic", "rich", "scipy", "yaml"}


def test_help_lists_commands_and_exit_codes() -> None:
    result = call("--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    sections = [f"\n{title}:\n" for title in SECTIONS]
    assert sorted(sections, key=result.stdout.index) == sections
    listed = re.findall(r"^  (\w+) +[A-Z].*", result.stdout, re.MULTILINE)
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)
    assert "Examples:" in result.stdout
    for code, meaning in MEANINGS.items():
        assert f"{code:<3} {meaning}" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_and_says_where_the_exit_codes_are(name: str) -> None:
    result = call(name, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f"planner {name}" in result.stdout
    assert result.stdout.endswith(f"{POINTER}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_line_of_help_is_that_of_the_command(name: str) -> None:
    found = main.get_command(main.make_context("planner", ["--help"], resilient_parsing=True), name)
    assert found is not None
    assert found.short_help == COMMANDS[name]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from planner.cli.main import main\n"
        "for words in ([], ['--version'], ['--help'], ['solve', '--help']):\n"
        "    main(words, standalone_mode=False)\n"
        "print({name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    loaded = done.stderr.splitlines()[-1]
    assert not {name for name in HEAVY if f"'{name}'" in loaded}


def test_nothing_asked_for_is_a_usage_error_with_help() -> None:
    assert "Know your cluster:" in refused()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_commands_and_objectives(shell: str) -> None:
    def offered(words: str) -> list[str]:
        variables = {
            "_PLANNER_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            # fish names the word that is not whole, the others its place.
            "COMP_CWORD": words.rpartition(" ")[2] if shell == "fish" else str(words.count(" ")),
        }
        said = CliRunner().invoke(main, env=variables, prog_name="planner").stdout
        if shell == "zsh":  # type, word and help, a line each
            return said.splitlines()[1::3]
        return [line.partition(",")[2].partition("\t")[0] for line in said.splitlines()]

    assert offered("planner ") == [*COMMANDS]
    assert "min-lost-work" in offered("planner solve --objective min-")
    assert "--time-limit" in offered("planner solve --t")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_switched_on_as_help_says(shell: str) -> None:
    said = call("--help").stdout
    assert 'eval "$(_PLANNER_COMPLETE=bash_source planner)"' in said
    assert shell == "bash" or f"{shell}_source" in said
    asked = {"_PLANNER_COMPLETE": f"{shell}_source"}
    script = CliRunner().invoke(main, env=asked, prog_name="planner")
    assert script.exit_code == 0
    assert f"{shell}_complete" in script.stdout
