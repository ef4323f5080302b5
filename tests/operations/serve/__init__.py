"""Tests of the service for other programs, asked in this process, without a server."""
