"""Comparisons: algorithms beside each other on many states."""
