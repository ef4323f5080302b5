"""Tests of planner.operations.apply."""
