"""The place of the sparse tensor types of CUDA, which has no names: there are no sparse tensors on a device.

Mirrors: torch/cuda/sparse.py
"""
