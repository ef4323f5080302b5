"""The registry of schedulers."""
