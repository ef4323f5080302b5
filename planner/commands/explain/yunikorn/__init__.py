"""Explanations of YuniKorn's plans.

record.py   what is answered
inquiry.py  an ask, its plan and the smallest single changes that would make one exist
clash.py    law by law in words: why an allocation may be taken, or may not; the laws that leave no
            plan; what is short on a node, of a maximum, of a guaranteed
"""
