"""Clusters made by us, as kubectl would print them: for what is generated or imported.

kueue.py   single objects of Kueue
text.py    a state as text, of YuniKorn too: JSON, YAML, one line of many
"""

from planner.dump.text import as_json, as_line, as_yaml, listed

__all__ = ["as_json", "as_line", "as_yaml", "listed"]
