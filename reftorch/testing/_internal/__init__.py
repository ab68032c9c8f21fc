"""What tests and examples need.

Mirrors: torch/testing/_internal/__init__.py
Leaves out: nearly everything: PyTorch's own tests are not here.
"""
