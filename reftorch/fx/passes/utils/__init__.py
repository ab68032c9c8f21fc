"""What passes share: finding a pattern in a graph, and partitions of a graph.

Mirrors: torch/fx/passes/utils/__init__.py
Leaves out: ``common``, except the functions in ``fuser_utils``.
"""
