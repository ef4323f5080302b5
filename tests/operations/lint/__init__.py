"""What `planner lint` finds, and what its examples really do."""
