"""What docs/explanation/complexity.md proves, tried on small sizes."""
