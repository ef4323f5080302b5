"""Tests of what answers leave out of a state."""
