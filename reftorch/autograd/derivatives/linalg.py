"""Products of matrices and vectors.

For C = A B the gradients are dA = dC B^T and dB = A^T dC. A gradient is computed in the memory order of its input, so
that it can be added to .grad without a copy (a Linear layer passes the transpose of its weight).

Mirrors: tools/autograd/derivatives.yaml (mm, addmm, bmm, ...), torch/csrc/autograd/FunctionsManual.cpp (mm_mat1_grad)
Leaves out: decompositions (see decompositions.py), complex conjugates.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative


def _times(tensor, factor):
    return tensor if factor == 1 else tensor * factor


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


# --- matrices --------------------------------------------------------------------------------------------------------

derivative("mm", self=_mm_self, mat2=_mm_mat2)

derivative(
    "addmm",
    self=lambda grad, beta: _times(grad, beta),
    mat1=lambda grad, mat2, mat1_sizes, mat1_strides, alpha: _times(
        _mm_self(grad, mat2, mat1_sizes, mat1_strides), alpha
    ),
    mat2=lambda grad, mat1, mat2_sizes, mat2_strides, alpha: _times(
        _mm_mat2(grad, mat1, mat2_sizes, mat2_strides), alpha
    ),
)

# --- batches of matrices ---------------------------------------------------------------------------------------------

derivative(
    "bmm",
    self=lambda grad, mat2: grad.bmm(mat2.transpose(1, 2)),
    mat2=lambda grad, self: self.transpose(1, 2).bmm(grad),
)

derivative(
    "baddbmm",
    self=lambda grad, beta: _times(grad, beta),
    batch1=lambda grad, batch2, alpha: _times(grad.bmm(batch2.transpose(1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: _times(batch1.transpose(1, 2).bmm(grad), alpha),
)

# the op sums over the batch, so every matrix of the batch receives the whole gradient
derivative(
    "addbmm",
    self=lambda grad, beta: _times(grad, beta),
    batch1=lambda grad, batch1_sizes, batch2, alpha: _times(
        grad.expand(batch1_sizes[0], *grad.shape).bmm(batch2.transpose(1, 2)), alpha
    ),
    batch2=lambda grad, batch2_sizes, batch1, alpha: _times(
        batch1.transpose(1, 2).bmm(grad.expand(batch2_sizes[0], *grad.shape)), alpha
    ),
)

# --- vectors ---------------------------------------------------------------------------------------------------------

derivative("mv", self=lambda grad, vec: grad.outer(vec), vec=lambda grad, self: self.t().mv(grad))

derivative(
    "addmv",
    self=lambda grad, beta: _times(grad, beta),
    mat=lambda grad, vec, alpha: _times(grad.outer(vec), alpha),
    vec=lambda grad, mat, alpha: _times(mat.t().mv(grad), alpha),
)

derivative("dot", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
derivative("vdot", self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)

derivative(
    "addr",
    self=lambda grad, beta: _times(grad, beta),
    vec1=lambda grad, vec2, alpha: _times(grad.mv(vec2), alpha),
    vec2=lambda grad, vec1, alpha: _times(grad.t().mv(vec1), alpha),
)

# a x b = -(b x a), and g . (a x b) = a . (b x g) = b . (g x a)
derivative(
    "linalg_cross",
    self=lambda grad, other, dim: _C._linalg.linalg_cross(other, grad, dim=dim),
    other=lambda grad, self, dim: _C._linalg.linalg_cross(grad, self, dim=dim),
)
