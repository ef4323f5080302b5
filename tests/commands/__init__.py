"""Tests of the rooms of commands."""
