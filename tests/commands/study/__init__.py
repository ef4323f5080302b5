"""Many states: how they are found, packed and opened."""
