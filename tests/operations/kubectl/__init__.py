"""Tests of running kubectl, with a stand-in for it."""
