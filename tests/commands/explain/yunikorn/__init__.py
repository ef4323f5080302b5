"""Tests of explanations of YuniKorn."""
