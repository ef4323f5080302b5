"""Placement on nodes: states told by hand, random trees, and an enumeration beside them."""
