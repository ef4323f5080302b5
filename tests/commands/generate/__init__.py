"""Tests of planner.commands.generate."""
