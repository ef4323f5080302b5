"""Tests of the verifier of YuniKorn plans."""
