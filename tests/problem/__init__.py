"""Tests of the problem in integers."""
