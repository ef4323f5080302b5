"""Benchmarks; skipped unless asked for with --benchmark-only.

large.py, clusters.py  states of any size
scale.py               measures growth, also of other engines, and writes tables and plots
measure.py             one measurement of it, in a process of its own
tables.py              its tables and plots
stages.py              where the time of a plan goes, and how it grows
one_plan.py            one plan for it, in a process of its own
nasty.py               states that are hard for solvers, and what a plan takes after its time limit
watching.py            what a watch of a cluster that changes costs
steering.py            how long steering takes from a blocked workload to its open gate
"""
