"""Tests of planner.commands.whatif."""
