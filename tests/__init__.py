"""The tests: rooms mirror those of the product, helpers are imported as ``tests.<name>``."""
