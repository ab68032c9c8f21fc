"""What ``torch.library`` is made of.

Mirrors: torch/_library/__init__.py
"""
