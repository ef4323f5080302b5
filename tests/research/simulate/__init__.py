"""Tests of what happens cycle after cycle."""
