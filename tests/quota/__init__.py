"""Tests of quota arithmetic, and of what is read into it."""
