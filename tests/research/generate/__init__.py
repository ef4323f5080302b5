"""Tests of planner.research.generate."""
