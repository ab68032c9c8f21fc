"""Averages of the parameters of all ranks, in place of averages of the gradients.

Mirrors: torch/distributed/algorithms/model_averaging/__init__.py
Leaves out: averages in smaller groups more often than in larger ones (``hierarchical_model_averager``).
"""
