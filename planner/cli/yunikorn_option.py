"""The options that only YuniKorn has, and its texts in the help of commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from planner.cli import value
from planner.cli.value import Option

OPTIONS: Final[Mapping[str, Option]] = {
    "laws": value.one(
        "--laws",
        click.Choice(["design", "written", "code"]),
        "YuniKorn: the side to take where its written laws and its code differ; by default "
        "design. Of law 4 that takes the core's reading, written the words.",
    )
}
HELP: Final[Mapping[str, str]] = {
    "pending": "; an ask of YuniKorn by its allocation key or pod",
    "solve": "  planner solve instances/yunikorn/quickstart --laws code\n",
    "explain": "  planner explain instances/yunikorn/quickstart --victim "
    "etl/sessions-hourly-exec-9\n",
    "generate": "  planner generate yunikorn --count 100 -o states.jsonl.gz\n",
    "algorithms": "  yunikorn            the scheduler's own answer, of YuniKorn only\n",
    "simulate": "YuniKorn: victims vanish at once and come back as asks of their application.\n",
    "whatif": """\b
What can be set in a state of YuniKorn:
  queue/PATH.guaranteed.RESOURCE and .max.RESOURCE         a quantity, or none
  queue/PATH.preemption.policy                             default, fence, disabled
  queue/PATH.preemption.delay                              a duration such as 1m30s
  queue/PATH.priority.policy                               default, fence
  queue/PATH.priority.offset                               a whole number
  partition/NAME.preemption.enabled                        true or false
  application/ID.priority, for all it has                  a whole number
  ask/KEY.priority, allocation/KEY.priority                a whole number
  ask/KEY.allowPreemptOther                                true or false
  allocation/KEY.allowPreemptSelf and .originator          true or false

""",
}
