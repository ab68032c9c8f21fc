"""Derivatives of LDL factors of symmetric matrices.

Mirrors: tools/autograd/derivatives.yaml (linalg_ldl_factor_ex)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import not_implemented

not_implemented("linalg_ldl_factor_ex", "linalg_ldl_solve")
