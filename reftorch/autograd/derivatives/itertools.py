"""Derivatives of grids, products and combinations of the elements of tensors.

Mirrors: tools/autograd/derivatives.yaml (block_diag), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative


@derivative("block_diag", inputs=["tensors"], result="auto_linear")
def block_diag(grad, tensors_sizes, needs_input_grad):
    row, col, grads = 0, 0, []
    for sizes, needed in zip(tensors_sizes, needs_input_grad[0], strict=True):
        rows, cols = [1] * (2 - len(sizes)) + list(sizes)
        grads.append(grad[row : row + rows, col : col + cols].reshape(sizes) if needed else None)
        row, col = row + rows, col + cols
    return (grads,)
