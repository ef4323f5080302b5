"""Tests of how the wing of research writes its answers."""
