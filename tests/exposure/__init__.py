"""Tests of planner.exposure."""
