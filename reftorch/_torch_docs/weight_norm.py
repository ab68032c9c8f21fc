"""The docs of weight norm.

Mirrors: torch/nn/utils/weight_norm.py
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "norm_except_dim",
    """
Return the norms of the slices along ``dim``. The other dimensions are reduced and keep size 1.

Args:
    v: floats.
    pow: the order of the norm.
    dim: the dimension that is not reduced; -1 is the norm of all elements.

Shape: as ``v``, with size 1 in every dimension but ``dim``; () for ``dim = -1``.

Example:
    >>> torch.norm_except_dim(torch.tensor([[3.0, 4.0], [0.0, 2.0]]), 2, 0)
    tensor([[5.],
            [2.]])
""",
)

add_docstr(
    "_weight_norm",
    r"""
Return :math:`g \, v / \|v\|`, where the norm is taken over all dimensions but one.

Args:
    v: the directions.
    g: the lengths, of the shape of ``norm_except_dim(v, 2, dim)``.
    dim: the dimension that keeps its lengths; -1 is one length of all elements.

Shape: the shape of ``v``.

Example:
    >>> torch._weight_norm(torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]))
    tensor([[6., 8.]])
""",
)

add_docstr(
    "_weight_norm_interface",
    """
Return :func:`_weight_norm` along the first or last dimension, and the norms.

Args:
    v: the directions.
    g: the lengths, of the shape of ``norm_except_dim(v, 2, dim)``.
    dim: 0 or the last dimension.

Shape: the shapes of ``v`` and ``g``.

Example:
    >>> torch._weight_norm_interface(torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]))
    (tensor([[6., 8.]]), tensor([[5.]]))
""",
)

add_docstr(
    "_weight_norm_interface_backward",
    """
Return the gradients of :func:`_weight_norm_interface` for ``v`` and ``g``. The gradients have no derivatives.

Args:
    saved_norms: the norms that the forward returned.
    dim: 0 or the last dimension.

Shape: the shapes of ``v`` and ``g``.

Example:
    >>> v, g, norms = torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]), torch.tensor([[5.0]])
    >>> torch.ops.aten._weight_norm_interface_backward(torch.tensor([[1.0, 0.0]]), v, g, norms, 0)
    (tensor([[ 1.2800, -0.9600]]), tensor([[0.6000]]))
""",
)

add_docstr(
    "_weight_norm_differentiable_backward",
    """
Return the gradients of :func:`_weight_norm_interface` for ``v`` and ``g``.

It is made of other ops, so that the gradients can be differentiated again.

Args:
    saved_norms: the norms that the forward returned.
    dim: 0 or the last dimension.

Shape: the shapes of ``v`` and ``g``.

Example:
    >>> v, g, norms = torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]), torch.tensor([[5.0]])
    >>> torch.ops.aten._weight_norm_differentiable_backward(torch.tensor([[1.0, 0.0]]), v, g, norms, 0)
    (tensor([[ 1.2800, -0.9600]]), tensor([[0.6000]]))
""",
)
