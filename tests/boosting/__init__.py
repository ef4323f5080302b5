"""Tests of planner.boosting."""
