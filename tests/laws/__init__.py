"""One file per law: what only it forbids, and what it permits."""
