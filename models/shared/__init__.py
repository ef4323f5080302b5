"""Building blocks that the formulations of several schedulers have in common."""
