"""Backends of process groups that are written in Python.

Mirrors: nothing in PyTorch, whose backends are C++ files of torch/csrc/distributed/c10d
"""
