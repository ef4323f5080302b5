"""The verifier of plans by KEP-83's rules: law by law, without a solver.

setting.py  who wants in, by which policies; who is a candidate
removal.py  a legal order of removals, constructed and replayed
case.py     a plan matched with the state
laws.py     one check per law, K83-01 to K83-08

What the KEP's text leaves open is decided in `planner.laws.kep83`.
"""

from planner.verifier.kep83.case import Kep83Case, kep83_case_of
from planner.verifier.kep83.laws import CHECKS
from planner.verifier.kep83.setting import Kep83Setting, kep83_setting_of

__all__ = ["CHECKS", "Kep83Case", "Kep83Setting", "kep83_case_of", "kep83_setting_of"]
