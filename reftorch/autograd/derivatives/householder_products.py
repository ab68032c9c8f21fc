"""Derivatives of products of Householder reflections.

Mirrors: tools/autograd/derivatives.yaml (geqrf)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative, not_implemented

# householder_product of the results of geqrf has a gradient
derivative("geqrf", self=not_implemented("geqrf"))
