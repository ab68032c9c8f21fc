"""Averages of the parameters of all ranks, in place of averages of the gradients.

Mirrors: torch/distributed/algorithms/model_averaging/__init__.py
"""
