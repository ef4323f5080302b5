"""Results as documents: what is said of them, whatever it is written in.

block.py           what documents are made of
plan.py            a plan; the parts that the plans of all schedulers have
measure.py         values of disruption terms
audit.py           an audit
distribution.py    the numbers of an audit, counted in ranges
"""
