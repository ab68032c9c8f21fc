"""Function transforms: vmap, and derivatives as functions of functions. :mod:`reftorch.func` is their public module.

Mirrors: torch/_functorch/__init__.py
"""
