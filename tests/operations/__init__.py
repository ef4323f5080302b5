"""Tests of the wing of operations."""
