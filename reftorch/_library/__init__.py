"""The parts of ``torch.library``.

Mirrors: torch/_library/__init__.py
"""
