"""The internal parts of the loader.

Mirrors: torch/utils/data/_utils/__init__.py
Leaves out: signal handlers: the loader waits for the ends of its workers directly.
"""
