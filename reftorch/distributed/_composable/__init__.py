"""Changes of a module for several ranks that leave its class. They exist by their names only.

Mirrors: torch/distributed/_composable/__init__.py
Leaves out: everything.
"""
