"""The internal parts of the loader.

Mirrors: torch/utils/data/_utils/__init__.py
Leaves out: workers, signal handling and pinned memory.
"""
