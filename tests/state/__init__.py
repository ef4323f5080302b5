"""Tests of the schema of what was read."""
