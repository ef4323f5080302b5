"""A run that dies between two changes leaves nothing that `--undo` or a second run does not mend.

The process is a real one, and so is its kubectl. It gets a signal at the moment at which the API
server has made its first, second or third change, before it is told so.
"""

import copy
import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import BIG, call, cluster, command, environment
from tests.cluster import PENDING, Object
from tests.commands.apply.stage import Stage, plan_for, versioned
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.kubectl.stand_in import CONFIGURATION, MANAGER

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")

GATE = "featureGates:\n  PriorityBoost: true\n"
MOMENTS = (1, 2, 3) if TEST_ALL else (2,)
"""The queue is held; then the victim evicted or boosted; then the hold is lifted."""
LAST = 3
AS_PLANNED, REFUSED, STOPPED = 0, 1, 7


class Death:
    """A cluster, a plan on disk, and a run that gets a signal after so many changes."""

    def __init__(self, folder: Path) -> None:
        configuration = copy.deepcopy(CONFIGURATION)
        configuration["data"]["controller_manager_config.yaml"] += GATE
        self.stage = Stage(versioned([*cluster()["items"], configuration, MANAGER]), folder)
        plan = plan_for(self.stage.items)
        assert plan.keys == (BIG,)
        self.file = folder / "plan.json"
        self.file.write_text(plan.model_dump_json(by_alias=True), encoding="utf-8")
        self.before = copy.deepcopy(marks(self.stage))

    def run(self, config: Path, way: str, moment: int, sent: signal.Signals) -> tuple[int, str]:
        """Return the exit code and the standard output of the run."""
        words = command("apply", self.file, "--by", way, "--yes", "--format", "json")
        run = subprocess.Popen(
            [*words, "--kubeconfig", str(config)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

        def reply(stage: Stage, kind: str, _: Object) -> None:
            if len(stage.patched) == moment:
                run.send_signal(sent)
            stage.kueue(kind)

        self.stage.reply = reply
        output, _ = run.communicate(timeout=FOR_EVER_S)
        self.stage.reply = lambda stage, kind, _: stage.kueue(kind)
        return run.returncode, output

    def again(self, config: Path, *options: str) -> tuple[int, str]:
        """Return exit code and status of another run."""
        done = call("apply", self.file, "--kubeconfig", config, "--format", "json", *options)
        return done.exit_code, json.loads(done.stdout)["status"]


def marks(stage: Stage) -> list[tuple[str, Object, str]]:
    """Return what a run leaves on objects while it goes on: annotations, and who is held."""
    return [
        (
            item["metadata"]["name"],
            item["metadata"].get("annotations") or {},
            item.get("spec", {}).get("stopPolicy", "None"),
        )
        for item in stage.items
    ]


@pytest.fixture
def death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Death:
    """Give a cluster in which one is to go."""
    monkeypatch.setenv("HOME", str(tmp_path))  # kubectl keeps its caches there
    return Death(tmp_path)


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_while_boosts_stand(death: Death, moment: int) -> None:
    with death.stage.serve() as config:
        assert death.run(config, "boosts", moment, signal.SIGKILL) == (-signal.SIGKILL, "")
        assert marks(death.stage) != death.before
        death.again(config, "--undo")
    assert marks(death.stage) == death.before


@pytest.mark.parametrize("moment", MOMENTS)
def test_asked_to_end_while_boosts_stand(death: Death, moment: int) -> None:
    """SIGTERM, as whoever stops a container sends it: it takes back what it did by itself."""
    with death.stage.serve() as config:
        code, output = death.run(config, "boosts", moment, signal.SIGTERM)
    assert (code, json.loads(output)["status"]) == (STOPPED, "interrupted")
    assert marks(death.stage) == death.before


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_while_victims_leave_and_run_again(death: Death, moment: int) -> None:
    """Killed after the last change there is nothing left to do, and a second run says so."""
    with death.stage.serve() as config:
        death.run(config, "eviction", moment, signal.SIGKILL)
        assert death.stage.is_evicted(BIG) == (moment > 1)
        done = death.again(config, "--yes")
    assert done == ((REFUSED, "refused") if moment == LAST else (AS_PLANNED, "applied"))
    assert death.stage.is_evicted(BIG)
    assert death.stage.queue()["spec"]["stopPolicy"] == "None"
    assert "admission" in death.stage.workload(PENDING)["status"]
