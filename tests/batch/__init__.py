"""Tests of runs over many states."""
