"""The documentation: the site builds, and what its pages show is what the commands print."""
