"""The parts of the benchmark package, a file for each subject.

Mirrors: torch/utils/benchmark/utils/__init__.py
"""
