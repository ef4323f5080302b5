"""A cluster watched: its state, what is said of it, and how the watching goes on."""
