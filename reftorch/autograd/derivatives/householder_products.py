"""Derivatives of products of Householder reflections.

Mirrors: tools/autograd/derivatives.yaml (geqrf)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import not_implemented

not_implemented("geqrf")  # householder_product of the results of geqrf has a gradient
