"""The Pareto front of two measures: plan after plan, each less disruptive by the second.

sweep.py  the sweep, and the front as a record
"""
