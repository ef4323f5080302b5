"""Audits: whose answers are judged, and how."""
