"""Tests of asking a scheduler's REST service, with a stand-in for it.

service.py  a service in this process: of YuniKorn's core, or any that misbehaves
"""
