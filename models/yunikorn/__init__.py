"""YuniKorn's laws as CP-SAT formulations."""
