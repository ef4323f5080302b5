"""From a problem to a proven plan; the only room that runs a solver."""
