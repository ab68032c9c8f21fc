"""Derivatives of distinct elements.

Mirrors: tools/autograd/derivatives.yaml (_unique, _unique2, unique_dim, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch.autograd.derivatives import derivative


def _unknown(op: str) -> Any:
    def formula(grad: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{op}' is not implemented.")

    return formula


for _op in ("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    derivative(_op, self=_unknown(_op))
