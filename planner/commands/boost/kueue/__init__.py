"""Priority boosts after which Kueue's own algorithm takes the victims of a plan.

find.py    the way in: from a plan to its boosts, with the commands that carry them out
trial.py   Kueue's decision under other priorities, and by annotations that set them
search.py  the candidates and what priorities each can have; every order in which Kueue could be
           made to look at them; the smallest choice that works, or why none does

Source: docs/semantics/kueue.md §2.3 (the annotation and its feature gate), §5.2 to §5.4 and §6.2
(what priorities decide).
"""
