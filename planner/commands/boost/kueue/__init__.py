"""Priority boosts after which Kueue's own algorithm takes the victims of a plan.

find.py    the way in: from a plan to its boosts, with the commands that carry them out
trial.py   Kueue's decision under other priorities, given directly or set by annotations
search.py  the candidates, and the priorities that each can have; every order in which boosts can
           make Kueue look at the candidates; the smallest boosts that work, or why none do

Source: docs/semantics/kueue.md §2.3 (the annotation and its feature gate), §5.2 to §5.4 and §6.2
(what priorities decide).
"""
