"""Tests of planner.commands.risk."""
