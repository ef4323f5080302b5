"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

base.py      the base of all records; what an answer leaves out of a state, and the status that
             follows; the victims of a plan as a pandas DataFrame
asked.py     the question that a plan answers, and in what one differs from another
label.py     what fields are called and how they are shown
record.py    what the plans of every scheduler have in common; the measures in which a plan exceeds
             the scheduler's own; the calls of kubectl that carry a plan out
proof.py     proof trees: the steps that show that no plan is better; trees in a file of their own
kueue.py     the plan for a pending workload of Kueue, with the tree and the nodes around it, and
             the joint plan for several
yunikorn.py  the plan for an ask of YuniKorn
front.py     the Pareto front of two measures, of any scheduler
"""

from planner.plan.base import SCHEMA_VERSION as SCHEMA_VERSION
from planner.plan.base import Assume as Assume
from planner.plan.base import Covered as Covered
from planner.plan.base import Proved as Proved
from planner.plan.base import Published as Published
from planner.plan.base import Record as Record
from planner.plan.base import Status as Status
from planner.plan.base import Turn as Turn
from planner.plan.base import Uncovered as Uncovered
from planner.plan.base import qualified as qualified
from planner.plan.proof import Tree as Tree
from planner.plan.record import TREES as TREES
from planner.plan.record import AnyPlan as AnyPlan
from planner.plan.record import Cap as Cap
from planner.plan.record import Certificate as Certificate
from planner.plan.record import Conclusion as Conclusion
from planner.plan.record import Excess as Excess
from planner.plan.record import Level as Level
from planner.plan.record import Proof as Proof
from planner.plan.record import Shown as Shown
from planner.plan.record import Verdict as Verdict
from planner.plan.record import Verification as Verification
