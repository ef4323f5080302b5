"""The same problems solved a second time, by other engines and in other ways.

engines.py  the engines: plain CP-SAT with presolve, HiGHS and SCIP
whole.py    a planning solved whole, level by level: no core, no bounds, no tie-break
flat.py     flat cohorts with one resource, solved by dynamic programming
"""
