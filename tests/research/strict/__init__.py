"""Documented precedence, ST-01 to ST-05, beside the laws of Kueue."""
