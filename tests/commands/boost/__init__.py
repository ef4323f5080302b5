"""Tests of planner.commands.boost."""
