"""Tests of the formulations: what they admit, against what is legal."""
