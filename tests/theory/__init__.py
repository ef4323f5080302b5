"""What docs/explanation/complexity.md proves, on small sizes; flat cohorts on large ones."""
