"""Tests of planner.generation."""
