"""Tests of planner.commands.steer."""
