"""The agent of a machine.

Mirrors: torch/distributed/elastic/agent/__init__.py
"""
