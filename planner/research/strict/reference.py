"""Which steps of Kueue's own algorithm keep its documented precedence."""

from __future__ import annotations

from planner.reference.kueue.classical import search_classical
from planner.reference.kueue.fair_sharing import QueueOrder, search_fair_sharing
from planner.reference.laws import keeps
from planner.research.strict import laws

keeps(laws.ST_ATTEMPTS, laws.ST_STOPS)(search_classical)
keeps(laws.ST_STRATEGIES, laws.ST_ONE_PER_QUEUE, laws.ST_STOPS)(search_fair_sharing)
keeps(laws.ST_HIGHEST_SHARE)(QueueOrder.next_queue)
