"""Derivatives of functions of three tensors, element by element.

Mirrors: tools/autograd/derivatives.yaml (addcmul, addcdiv, lerp)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative

derivative(
    "addcmul",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
    result="auto_element_wise",
)

derivative(
    "addcdiv",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)),
    result="auto_element_wise",
)

derivative(
    "lerp.Scalar",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    result="auto_element_wise",
)

derivative(
    "lerp.Tensor",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
    result="auto_element_wise",
    node_number=1,
)
