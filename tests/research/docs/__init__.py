"""Tests of the pages of the wing of research."""
