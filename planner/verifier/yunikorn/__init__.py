"""A finished plan for an ask of YuniKorn against the laws, one check per law."""
