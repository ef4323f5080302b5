"""Tests of YuniKorn's rooms: state, reader, reference and replay."""
