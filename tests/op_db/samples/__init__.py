"""Samples that the rows of several families draw, by the kind of the inputs.

Mirrors: torch/testing/_internal/opinfo/definitions/__init__.py
"""
