"""Checks: what is true of a plan, and what is forged."""
