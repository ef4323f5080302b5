"""Tests of the commands of the wing of research."""
