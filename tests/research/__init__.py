"""Tests of the wing of research."""
