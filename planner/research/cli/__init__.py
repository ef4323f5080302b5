"""The commands of the wing of research, each a module of its name."""
