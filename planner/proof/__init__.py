"""Proof trees, derived from a state and checked without a solver."""
