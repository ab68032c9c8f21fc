"""Scaled dot-product attention.

Mirrors: torch/nn/functional.py (``scaled_dot_product_attention``)

The op, which chooses between two ways, is in cpp/ATen/native/attention.cpp.
"""

from __future__ import annotations

from reftorch import _C

__all__ = ["scaled_dot_product_attention"]

scaled_dot_product_attention = _C._nn.scaled_dot_product_attention
