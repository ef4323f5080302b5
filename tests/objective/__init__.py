"""Tests of the disruption terms, the annotations they read, and the profiles."""
