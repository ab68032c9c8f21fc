"""For a user with a model: what its modules compute, where two models differ, and why a model does not learn.

Mirrors: nothing in PyTorch, where people write such tools themselves.
"""
