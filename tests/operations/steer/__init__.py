"""Tests of planner.operations.steer."""
