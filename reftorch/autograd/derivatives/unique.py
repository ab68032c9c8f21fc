"""Derivatives of distinct elements.

Mirrors: tools/autograd/derivatives.yaml (_unique, _unique2, unique_dim, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative, not_implemented

for _op in ("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    derivative(_op, self=not_implemented(_op))
