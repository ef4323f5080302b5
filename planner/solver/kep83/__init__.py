"""Plans for pending workloads of Kueue by the rules of KEP-83.

planning.py  what the KEP's algorithm decides for one pending workload, and what its laws leave open
rules.py     its rules as a search uses them

Search, certificate and description are those of `planner.solver.kueue`.
"""
