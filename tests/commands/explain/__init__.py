"""Tests of explanations: proved, minimal, and in words that are true."""
