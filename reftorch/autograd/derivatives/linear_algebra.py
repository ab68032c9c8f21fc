"""Derivatives of products of matrices.

For C = A B the gradients are dA = dC B^T and dB = A^T dC. A gradient is computed in the memory order of its input, so
that it can be added to .grad without a copy (a Linear layer passes the transpose of its weight).

Mirrors: tools/autograd/derivatives.yaml (mm, addmm, bmm, baddbmm, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import times


def _is_column_major(sizes, strides):
    return strides[0] == 1 and strides[1] == sizes[0] and sizes[0] != 1


def _mm_self(grad, mat2, self_sizes, self_strides):
    if _is_column_major(self_sizes, self_strides):
        return mat2.mm(grad.t()).t()
    return grad.mm(mat2.t())


def _mm_mat2(grad, self, mat2_sizes, mat2_strides):
    if _is_column_major(mat2_sizes, mat2_strides):
        return grad.t().mm(self).t()
    return self.t().mm(grad)


# --- matrices ---------------------------------------------------------------------------------------------------------

derivative("mm", self=_mm_self, mat2=_mm_mat2)

derivative(
    "addmm",
    self=lambda grad, beta: times(grad, beta),
    mat1=lambda grad, mat2, mat1_sizes, mat1_strides, alpha: times(
        _mm_self(grad, mat2, mat1_sizes, mat1_strides), alpha
    ),
    mat2=lambda grad, mat1, mat2_sizes, mat2_strides, alpha: times(
        _mm_mat2(grad, mat1, mat2_sizes, mat2_strides), alpha
    ),
)

# --- batches of matrices ----------------------------------------------------------------------------------------------

derivative(
    "bmm",
    self=lambda grad, mat2: grad.bmm(mat2.transpose(1, 2)),
    mat2=lambda grad, self: self.transpose(1, 2).bmm(grad),
)

derivative(
    "baddbmm",
    self=lambda grad, beta: times(grad, beta),
    batch1=lambda grad, batch2, alpha: times(grad.bmm(batch2.transpose(1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: times(batch1.transpose(1, 2).bmm(grad), alpha),
)

# the op sums over the batch, so every matrix of the batch receives the whole gradient
derivative(
    "addbmm",
    self=lambda grad, beta: times(grad, beta),
    batch1=lambda grad, batch1_sizes, batch2, alpha: times(
        grad.expand(batch1_sizes[0], *grad.shape).bmm(batch2.transpose(1, 2)), alpha
    ),
    batch2=lambda grad, batch2_sizes, batch1, alpha: times(
        batch1.transpose(1, 2).bmm(grad.expand(batch2_sizes[0], *grad.shape)), alpha
    ),
)

# --- products of two vectors ------------------------------------------------------------------------------------------

derivative(
    "addr",
    self=lambda grad, beta: times(grad, beta),
    vec1=lambda grad, vec2, alpha: times(grad.mv(vec2), alpha),
    vec2=lambda grad, vec1, alpha: times(grad.t().mv(vec1), alpha),
)
