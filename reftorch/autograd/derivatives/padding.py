"""Derivatives of borders that repeat elements.

Mirrors: tools/autograd/derivatives.yaml (reflection_pad1d, replication_pad1d, ...)
Leaves out: complex numbers.

A border is linear. Its gradient adds the gradients of all copies of an element, which is an op of its own, and the
gradient of that op is the border again.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn, _torch = _C._nn, _C._VariableFunctions


def _register(op: str) -> None:
    forward_op, backward_op = getattr(_nn, op), getattr(_nn, f"{op}_backward")
    derivative(op, self=lambda grad, self, padding: backward_op(grad, self, padding), result="auto_linear")
    # The backward reads only the shape of self.
    derivative(
        f"{op}_backward",
        grad_output=lambda grad, padding: forward_op(grad, padding),
        self=lambda grad, self: _torch.zeros_like(self),
    )


for _dims in (1, 2, 3):
    _register(f"reflection_pad{_dims}d")
    _register(f"replication_pad{_dims}d")
