"""Tests of how the wing of operations writes its answers."""
