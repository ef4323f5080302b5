"""Tests of the solver: the answer is the best, proved, unique, and honest about time."""
