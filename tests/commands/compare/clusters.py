"""Small clusters on which algorithms differ, with the numbers worked out by hand."""

from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.cli.running import cluster
from tests.cluster import NOW, Object, cohort, pending, queue, running, state_of


def two_borrowers(*more: list[Object]) -> State:
    """Return a cluster in which classical preemption and fair sharing choose differently.

    ``mine`` owns 4 GPUs, of which ``many`` uses 3 and ``few`` uses 1. ``ns/pending`` wants one
    back. Classical preemption takes the newest of all, ``ns/few-1``, running for 20 minutes. Fair
    sharing goes to the queue with the highest share first, ``many``, and takes its newest,
    ``ns/many-3``, running for 30 minutes.
    """
    return state_of(
        cohort("all"),
        queue("mine", 4, "all", reclaim="Any"),
        queue("many", 0, "all"),
        queue("few", 0, "all"),
        *(running(f"many-{i}", "many", 1, minute=10 * i) for i in range(1, 4)),
        running("few-1", "few", 1, minute=40),
        pending("mine", 1, created=50),
        *more,
    )


def nothing_of_its_own(*more: list[Object]) -> State:
    """Return a cluster in which only fair sharing evicts.

    The cohort owns 4 GPUs, of which ``theirs`` uses all, in two workloads of 2. ``mine`` wants 1
    and owns none: classical preemption without borrowWithinCohort lets it evict nobody. Fair
    sharing takes the newer, running for 40 minutes: the shares would be 1 and 2 of 4 then.
    """
    return state_of(
        cohort("all", nominal=4),
        queue("mine", 0, "all", reclaim="Any"),
        queue("theirs", 0, "all"),
        running("older", "theirs", 2, minute=10),
        running("newer", "theirs", 2, minute=20),
        pending("mine", 1),
        *more,
    )


def one_would_do() -> State:
    """Return the cluster in which Kueue evicts four and one would do."""
    return read_kueue_objects(cluster(), where="cluster", now=NOW)
