"""Tests of planner.scenario."""
