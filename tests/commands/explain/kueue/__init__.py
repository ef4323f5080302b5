"""Tests of explanations of Kueue."""
