"""Explanations of YuniKorn's plans.

record.py   the answers as records
inquiry.py  an ask, its plan and the smallest single changes that would make a plan exist
clash.py    law by law in words: why an allocation may be taken, or may not; the laws that leave no
            plan; what is short on a node, of a queue's maximum, of its guaranteed
"""
