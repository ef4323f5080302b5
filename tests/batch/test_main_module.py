"""Who runs a batch need not guard the main module: worker processes leave it alone."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import FOR_EVER_S, ROOT

SCRIPT = """
print("this is the main module")
from planner.batch import Limits, Task, run
from tests.batch.work import double
found = run([Task("a", 1), Task("b", 2)], double, header={}, jobs=2, limits=Limits(60))
print([row.result["double"] for row in found])
"""
EXPECTED = "this is the main module\n[2, 4]\n"


@pytest.mark.parametrize(
    "words",
    [["main_of_mine.py"], ["-m", "main_of_mine"], ["-"], ["-c", SCRIPT]],
    ids=lambda words: words[0],
)
def test_script(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "main_of_mine.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=SCRIPT,
        capture_output=True,
        text=True,
        check=False,
        timeout=FOR_EVER_S,
    )
    assert (done.stdout, done.stderr) == (EXPECTED, "")


def test_notebook() -> None:
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    cell = nbformat.v4.new_code_cell(SCRIPT)  # type: ignore[no-untyped-call]
    notebook.cells.append(cell)
    NotebookClient(notebook, resources={"metadata": {"path": str(ROOT)}}).execute()
    assert {output.name for output in cell.outputs} == {"stdout"}
    assert "".join(output.text for output in cell.outputs) == EXPECTED


def test_path_of_its_own(tmp_path: Path) -> None:
    """Work is imported from where the program has found it, and nothing else of that name."""
    (tmp_path / "work_of_mine.py").write_text("def work(n): return {'from': __file__}\n")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "subprocess.py").write_text("raise ImportError\n")
    script = (
        f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path[1:]]\n"
        "from planner.batch import Task, run; from work_of_mine import work\n"
        "print(*(row.result['from'] for row in run([Task('a', 1)], work, header={}, jobs=2)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "here",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=FOR_EVER_S,
    )
    assert (done.stdout, done.stderr) == (f"{tmp_path / 'work_of_mine.py'}\n", "")
