"""An explanation of any scheduler."""

from planner.explanation.kueue.record import Clash, Explanation
from planner.explanation.yunikorn.record import YuniKornClash, YuniKornExplanation

AnyExplanation = Explanation | YuniKornExplanation
AnyClash = Clash | YuniKornClash
