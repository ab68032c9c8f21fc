"""The docs of views: the same elements in another shape.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "detach",
    """
Return a view that autograd does not track: no gradient flows through the view.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.ones(2, requires_grad=True).detach().requires_grad
    False
""",
)

add_docstr(
    "set_",
    """
Make the tensor share the memory of ``source``. Without ``source`` the tensor becomes empty.

Args:
    source: a tensor.
    storage_offset: the index of the first element in the memory.
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.

Shape: the shape of ``source``, or ``size``; returns the tensor.

Example:
    >>> torch.empty(0).set_(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_set_to",
    """
Return whether both tensors have the same memory, shape and strides.

Shape: any -> a Python bool.

Example:
    >>> x = torch.ones(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)
""",
)

add_docstr(
    "view",
    """
Return a view of the memory with a different shape, or with its bytes read as a different dtype.

Args:
    size: the shape, as ints or as one tuple; one size may be -1 and is computed from the others.
    dtype: the dtype as which the bytes are read.

Shape: ``size``; the result is a view.

Raises:
    RuntimeError: the number of elements differs, or the strides do not allow a view; use :func:`reshape` then.

Example:
    >>> torch.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "reshape",
    """
Return the elements in another shape: a view if the strides allow one, else a copy.

Args:
    shape: the shape, as a tuple; one size may be -1 and is computed from the others.

Shape: ``shape``.

Raises:
    RuntimeError: the number of elements differs.

Example:
    >>> torch.reshape(torch.arange(6), (2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "as_strided",
    """
Return a view of the memory with the given shape and strides. The shape and the strides of ``input`` are ignored.

Args:
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.
    storage_offset: the index of the first element in the memory; by default that of ``input``.

Shape: ``size``.

Raises:
    RuntimeError: the view would reach beyond the memory.

Example:
    >>> torch.as_strided(torch.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
""",
)

add_docstr(
    "alias",
    """
Return a view of ``input`` with the same shape and strides.

Shape: the shape of ``input``.

Example:
    >>> torch.alias(torch.tensor([1, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "lift_fresh",
    """
Return ``input``, which a constructor has made of Python data.

``torch.tensor`` and its relatives call this op with each new tensor, so that a
:class:`~reftorch.utils._python_dispatch.TorchDispatchMode` sees the tensor come into being.

Shape: the shape of ``input``.

Example:
    >>> torch.ops.aten.lift_fresh(torch.tensor([1, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "expand",
    """
Return a view in which dimensions of size 1 are repeated, without a copy.

Args:
    size: the shape, as ints or as one tuple; -1 keeps a size. New dimensions are in front.
    implicit: has no effect on the result.

Shape: ``size``.

Raises:
    RuntimeError: a size other than 1 would change.

Example:
    >>> torch.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
)

add_docstr(
    "expand_as",
    """
Return a view expanded to the shape of ``other``.

Shape: the shape of ``other``.

Example:
    >>> torch.tensor([[1], [2]]).expand_as(torch.ones(2, 3))
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
)

add_docstr(
    "broadcast_to",
    """
Return a view of ``input`` expanded to ``size``.

Shape: ``size``.

Raises:
    RuntimeError: ``input`` does not broadcast to ``size``.

Example:
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
""",
)

add_docstr(
    "view_as",
    """
Return a view of the memory with the shape of ``other``.

Shape: the shape of ``other``; the result is a view.

Example:
    >>> torch.arange(4).view_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)

add_docstr(
    "reshape_as",
    """
Return the elements in the shape of ``other``: a view if the strides allow one, else a copy.

Shape: the shape of ``other``.

Example:
    >>> torch.arange(4).reshape_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)

add_docstr(
    "permute",
    """
Return a view with the dimensions in another order.

Args:
    dims: all dimensions, in the new order.

Shape: the sizes of ``input`` in the new order of the dimensions.

Example:
    >>> torch.permute(torch.ones(2, 3, 5), (2, 0, 1)).shape
    torch.Size([5, 2, 3])
""",
)

add_docstr(
    "transpose",
    """
Return a view with two dimensions exchanged.

Shape: the shape of ``input`` with ``dim0`` and ``dim1`` exchanged.

Example:
    >>> torch.transpose(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "t",
    """
Return the transpose of a matrix. A vector or a number is returned unchanged.

Shape: (M, N) -> (N, M); the result is a view.

Raises:
    RuntimeError: there are more than two dimensions.

Example:
    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "unsqueeze",
    """
Return a view with a new dimension of size 1 at ``dim``.

Shape: the shape of ``input`` with 1 inserted.

Example:
    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
""",
)

add_docstr(
    "squeeze",
    """
Return a view without dimensions of size 1: without all of them, or without those that ``dim`` lists.

Args:
    dim: the dimension or dimensions to remove if their size is 1.

Shape: the shape of ``input`` without these dimensions.

Example:
    >>> torch.squeeze(torch.ones(1, 2, 1)).shape, torch.squeeze(torch.ones(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
""",
)
