"""The benchmark: its suite, its rivals, its runs and its page."""
