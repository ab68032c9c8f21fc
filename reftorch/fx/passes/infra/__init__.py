"""Passes as classes, and lists of passes.

Mirrors: torch/fx/passes/infra/__init__.py
Leaves out: the partitioner.
"""
