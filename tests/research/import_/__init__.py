"""Traces: what rows become, who holds quota at an instant, and the real files."""
