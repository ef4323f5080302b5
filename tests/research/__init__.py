"""The wing of research."""
