"""Pictures of what keeps tensors alive.

Mirrors: torch/utils/viz
"""
