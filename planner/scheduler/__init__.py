"""The schedulers that can be planned for, each as an object; they are registered here.

record.py    a scheduler as others see it: its words, and what is asked of it
kueue.py     Kueue; who may choose its flavors
yunikorn.py  YuniKorn
"""

from planner.scheduler.kueue import KUEUE as KUEUE
from planner.scheduler.kueue import OWN as OWN
from planner.scheduler.kueue import Flavors as Flavors
from planner.scheduler.kueue import Placement as Placement
from planner.scheduler.record import AnyScheduler as AnyScheduler
from planner.scheduler.record import Scheduler as Scheduler
from planner.scheduler.record import Words as Words
from planner.scheduler.record import find_scheduler as find_scheduler
from planner.scheduler.record import page as page
from planner.scheduler.record import register as register
from planner.scheduler.record import scheduler_of as scheduler_of
from planner.scheduler.record import schedulers as schedulers
from planner.scheduler.yunikorn import YUNIKORN as YUNIKORN

register(KUEUE)
register(YUNIKORN)
