"""Commands that a plan shows are those that carry it out, and no others."""

import json
from pathlib import Path

from tests.cli.running import call, write
from tests.operations.steer.test_one_preemptor import blocked


def test_commands_are_those_that_the_planner_prints(tmp_path: Path) -> None:
    items = [one for one in blocked().items if one["kind"] != "Lease"]
    dump = write(tmp_path, {"apiVersion": "v1", "kind": "List", "items": items})
    path = tmp_path / "plan.json"
    solve = ("solve", dump, "--pending", "ns/first", "--objective", "min-lost-work")
    assert call(*solve, "--show-commands", "-o", path).exit_code == 0
    assert call("check", dump, path).exit_code == 0
    plan = json.loads(path.read_text("utf-8"))
    steps = plan["commands"]["steps"]

    def given(words: str) -> list[dict[str, str]]:
        """Return the steps with more words before the names."""
        return [
            {**one, "command": one["command"].replace(" -- ", f" {words} -- ")} for one in steps
        ]

    deletes = {"title": steps[0]["title"], "command": "kubectl delete namespace production"}
    for forged in (
        [deletes],
        [*steps, deletes],
        steps[1:],
        [{**steps[0], "title": "do nothing"}, *steps[1:]],
        given("--context=x; rm -r ."),
        given("--context=x --force"),
        given("--context='x"),
    ):
        plan["commands"]["steps"] = forged
        result = call("check", dump, write(tmp_path, plan, "forged.json"))
        assert result.exit_code == 1
        assert "CT-10 holds=no" in result.stdout
    plan["commands"]["steps"] = steps
    # They may name the cluster: all of them the same.
    for option, code in (("--context=production", 0), ("--kubeconfig=/tmp/x", 0), ("--token=x", 1)):
        forged = {**plan, "commands": {**plan["commands"], "steps": given(option)}}
        assert call("check", dump, write(tmp_path, forged, "c.json")).exit_code == code
    plan["greedy"]["commands"] = {"steps": [deletes], "reason": "", "notes": []}
    assert call("check", dump, write(tmp_path, plan, "forged.json")).exit_code == 1
