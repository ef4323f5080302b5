"""An explanation of any scheduler."""

from planner.commands.explain.kueue.record import Clash, Explanation
from planner.commands.explain.yunikorn.record import YuniKornClash, YuniKornExplanation

AnyExplanation = Explanation | YuniKornExplanation
AnyClash = Clash | YuniKornClash
