"""The former place of changes of a module for several ranks.

Mirrors: torch/distributed/_composable/__init__.py
Leaves out: all but ``fully_shard``.
"""
