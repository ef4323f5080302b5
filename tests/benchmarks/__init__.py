"""Benchmarks; skipped unless asked for with --benchmark-only."""
