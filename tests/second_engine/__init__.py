"""The same problems solved a second time, by other engines and in other ways.

engine.py   what an engine is: plain CP-SAT with presolve is one
engines.py  the engines: that, and where the research wing is HiGHS and SCIP
whole.py    a planning solved whole, level by level: no core, no bounds, no tie-break
flat.py     flat cohorts with one resource, solved by dynamic programming
"""
