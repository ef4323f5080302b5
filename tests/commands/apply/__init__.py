"""Tests of planner.commands.apply."""
