"""Tests of planner.operations.risk."""
