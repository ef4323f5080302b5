"""Several pending workloads: every order of serving them, and in each step every legal set.

A step is legal if nothing goes and the workload fits, or if Kueue would look for victims and the
set is one of the legal ones. Who was served is never a victim. What is left of a state depends on
who was served and who is gone, not on the order, as every resource has one flavor only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.oracle.afterwards import admitted, without
from tests.oracle.assignment import asked, only_flavors
from tests.oracle.cluster import Cluster, Held, Json, key_of
from tests.oracle.greedy import kueue
from tests.oracle.legality import Legal, in_order
from tests.oracle.objectives import legal_sets
from tests.oracle.question import Question, ask
from tests.oracle.random_states import NOW
from tests.oracle.terms import Terms

Names = frozenset[str]


class Joint:
    """What serving the pending workloads of some objects may come to.

    ``reached`` says who can be gone when some are served; ``within`` is how many states are
    looked at, and ``complete`` says that these were all.
    """

    def __init__(self, objects: Sequence[Json], pending: Sequence[str], within: int = 400) -> None:
        self.objects = list(objects)
        self.cluster = Cluster(objects, NOW)
        self.pending = sorted(pending, key=self._precedence)
        self.within = within
        self.reached: dict[Names, set[Names]] = {}
        self.looked = 0
        self._go(self.objects, frozenset(), frozenset())

    @property
    def complete(self) -> bool:
        """Whether everything was looked at."""
        return self.looked <= self.within

    def _precedence(self, key: str) -> tuple[object, ...]:
        item = next(each for each in self.cluster.of_kind("Workload") if key_of(each) == key)
        priority, ordered_at = self.cluster.priority(item), self.cluster.ordered_at(item)
        return -priority, ordered_at, item["metadata"]["uid"]

    def _go(self, objects: Sequence[Json], served: Names, gone: Names) -> None:
        if gone in self.reached.get(served, ()) or not self.complete:
            return
        self.looked += 1
        self.reached.setdefault(served, set()).add(gone)
        for key in self.pending:
            if key in served:
                continue
            question = asked(Cluster(objects, NOW), key)
            for victims in () if question is None else steps(question):
                if question is not None and victims.isdisjoint(served):
                    after = admitted(without(objects, victims), key, question)
                    self._go(after, served | {key}, gone | victims)

    def best(self) -> Names:
        """Return who is served at best: the first in precedence counts first."""
        return max(self.reached, key=lambda served: [key in served for key in self.pending])

    def accepts(self, plan: Sequence[tuple[str, Names]]) -> bool:
        """Whether steps, each a workload and its victims, are legal one after another."""
        objects: Sequence[Json] = self.objects
        served: Names = frozenset()
        for key, victims in plan:
            question = asked(Cluster(objects, NOW), key)
            if question is None or victims not in steps(question) or victims & served:
                return False
            objects = admitted(without(objects, victims), key, question)
            served |= {key}
        return True

    def one_by_one(self) -> list[tuple[str, bool, Names]] | None:
        """Serve as Kueue would where all wait in one queue: who, whether, and whom it evicts.

        Who finds no room is tried again once somebody is evicted; who never does comes last. The
        answer is ``None`` where several queues compete in a cycle.
        """
        only = {"main": only_flavors(self.cluster)}
        if len({ask(self.cluster, key, only).queue for key in self.pending}) > 1:
            return None
        objects: Sequence[Json] = self.objects
        turns: list[tuple[str, bool, Names]] = []
        waiting, parked = self.pending, list[str]()
        while waiting:
            key, *waiting = waiting
            question = asked(Cluster(objects, NOW), key)
            fits = question is not None and not question.contested
            targets = frozenset(() if fits or question is None else kueue(question))
            if question is None or not (fits or targets):
                parked.append(key)
                continue
            turns.append((key, True, targets))
            objects = admitted(without(objects, targets), key, question)
            if targets:
                waiting, parked = sorted(waiting + parked, key=self._precedence), []
        return turns + [(key, False, frozenset()) for key in parked]

    def terms(self, costs: Mapping[str, int]) -> Terms:
        """Return the terms; ranks of priority count the candidates of every pending workload."""
        held = self.cluster.held
        worst = [self._at_worst(key) for key in self.pending]
        questions = [question for question in worst if _could_fit(question)]
        taken = [
            index
            for index in range(len(held))
            if any(_may_take(question, held[index]) for question in questions)
        ]
        taken.sort(key=lambda index: in_order(questions[0], own_last=False)(held[index]))
        return Terms(Legal(questions[0], tuple(taken), frozenset()), costs)

    def _at_worst(self, key: str) -> Question:
        """Put a question in which all is contested that is short once all others are served.

        Those that no state has room for are never served, and take no room from others.
        """
        only = {"main": only_flavors(self.cluster)}
        objects: Sequence[Json] = self.objects
        for other in self.pending:
            question = ask(self.cluster, other, only)
            if other != key and _could_fit(question):
                objects = admitted(objects, other, question)
        question = ask(Cluster(objects, NOW), key, only)
        short = frozenset(
            at
            for at, amount in question.request.items()
            if amount > max(0, question.tree.available(question.queue, at, 0))
        )
        return replace(ask(self.cluster, key, only), contested=short)


def _could_fit(question: Question) -> bool:
    """Whether a workload is looked at, and fits where nothing runs."""
    return question.tree.nodes[question.queue].active and all(
        amount <= question.tree.potential(question.queue, at)
        for at, amount in question.request.items()
    )


def _may_take(question: Question, held: Held) -> bool:
    """Whether a workload is a candidate in some state."""
    tree, queue = question.tree, ("queue", held.queue)
    together = (
        queue == question.queue or tree.above(queue)[-1:] == tree.above(question.queue)[-1:] != []
    )
    return together and tree.nodes[queue].active and question.may_take(held)


def steps(question: Question) -> set[Names]:
    """Return every set that may go for a workload."""
    legal = legal_sets(question)
    return {frozenset(legal.keys(mask)) for mask in legal.sets}
