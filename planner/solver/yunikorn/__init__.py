"""Plans for asks of YuniKorn."""
