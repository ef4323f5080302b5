"""``planner simulate``: scheduling cycle after cycle from a dump, and loops that never end."""

from __future__ import annotations

from typing import Final

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, NOT_PROVED, OPTIMAL
from planner.cli.option import define
from planner.cli.output import LINE, check_files, warn, write_file
from planner.cli.value import Option
from planner.scheduler import schedulers

CODES: Final = ("loop", "feud", "storm")
PLOTS: Final = (".svg", ".png")
INSTEAD: Final = ("optimum", "stable", "boost")
UNTIL: Final = 7 * 86_400
CYCLES: Final = 100_000
MOST: Final = 2**31
STORM: Final = 3


class Options(option.OfState):
    """What `planner simulate` is given."""

    core_release = option.core_release
    decider = value.one(
        "--decider",
        click.Choice(sorted([*INSTEAD, *(one.id for one in schedulers())])),
        "Who chooses the victims: the scheduler itself, by default, or plans.",
    )
    script = value.file("--script", "Run times, checkpoints and arrivals, as TOML or JSON.")
    until_s = value.one(
        "--until SECONDS",
        value.Whole(0, MOST, of="seconds"),
        "How much time passes at most; it ends earlier when nothing moves any more.",
        default=UNTIL,
    )
    cycles = value.one("--cycles N", value.Whole(1), "How many scheduling cycles at most.", CYCLES)
    eviction_s: Option[int] = option.own("eviction")
    apart_s: Option[int] = option.own("apart")
    storm = value.one(
        "--storm N",
        value.Whole(1),
        "How many evictions of one workload are no storm yet.",
        default=STORM,
    )
    fatal = option.fail_on(CODES)
    timeline = value.file(
        "--timeline", "Write what happened as JSON lines, one event each; see planner schema event."
    )
    plot = value.file("--plot", "Draw it, as .svg or .png; needs matplotlib.")
    objective = option.objective
    time_limit = option.time_limit("For each plan; none: as long as it takes.")
    laws = option.laws


@define(Options)
def command(given: Options) -> int:
    """Simulate what happens next, scheduling cycle after scheduling cycle.

    STATE is the same as for solve. Victims queue again by the scheduler's own rules, and may
    preempt in their turn. The answer says what happened when, how often everybody was evicted,
    what was lost, and how long who waited; and it finds what goes round: states that come back,
    workloads that evict each other, and those evicted too often.

      planner simulate cluster.json
      planner simulate cluster.json --decider optimum
      planner simulate cluster.json --script week.toml --until 604800 --plot week.svg
      planner simulate cluster.json --timeline events.jsonl -o simulation.json
      planner simulate cluster.json --storm 10 --fail-on loop --fail-on storm

    docs/how-to/simulate.md has the deciders, the script, and what loops, feuds and storms are.

    The exit code is 1 if a loop, a feud or a storm was found (see --fail-on); 4 if none was, and a
    plan was not proved best in time; 0 else.
    """
    fatal = option.fatal_of(given.fatal, CODES)
    from planner.commands.compare.table import need
    from planner.research.report.simulation import render, render_timeline
    from planner.research.simulate import Question, Script, read_script, simulate

    check_files({"-o": given.target.path, "--timeline": given.timeline, "--plot": given.plot})
    if given.plot is not None:
        if given.plot.suffix not in PLOTS:
            raise click.UsageError(
                f"--plot {given.plot}: the name must end in {' or '.join(PLOTS)}"
            )
        need(f"--plot {given.plot}", "matplotlib")
    script = read_script(given.script) if given.script else Script()
    found, longest = given.read(), max(1, given.until_s)
    with given.naming("script"):
        answer = simulate(
            found,
            Question(**given.of(Question, script=script, rules=given.laws)),
            lambda at_s, done: LINE.update(
                max(at_s / longest, done / given.cycles), f"{at_s:,} s, {done:,} cycles"
            ),
        )
    took_part = [
        name for one in answer.workloads for name in (one.workload, answer.called(one.workload))
    ]
    warn(f"{given.script}: {name} names nobody who took part" for name in script.idle(took_part))
    warn(answer.notes)
    if given.timeline is not None:
        write_file("--timeline", given.timeline, render_timeline(answer).encode("ascii"))
    if given.plot is not None:
        from planner.research.report.timeline import draw_simulation

        write_file(
            "--plot", given.plot, draw_simulation(answer, given.plot.suffix.removeprefix("."))
        )
    given.show(render, answer)
    found_here = {"loop": answer.loops, "feud": answer.feuds, "storm": answer.storms}
    if any(found_here[code] for code in fatal & found_here.keys()):
        return FINDINGS
    return NOT_PROVED if answer.unproved else OPTIMAL
