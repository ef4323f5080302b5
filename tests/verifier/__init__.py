"""Tests of the verifier: one file per law, brute force, recorded truth, forged certificates."""
