"""The docs of new tensors that are empty, or filled with one value.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "empty",
    """
Make a tensor whose elements are uninitialized: they hold whatever the memory held.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
""",
)

add_docstr(
    "empty_strided",
    """
Make a tensor of given strides, whose elements are uninitialized.

Args:
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.

Shape: ``size``.

Example:
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
""",
)

add_docstr(
    "empty_permuted",
    """
Make a dense tensor whose dimensions have a given order in memory; its elements are uninitialized.

Args:
    size: the shape.
    physical_layout: the dimensions, from the outermost in memory to the innermost.

Shape: ``size``.

Example:
    >>> torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
""",
)

add_docstr(
    "empty_like",
    """
Make a tensor of the shape and dtype of ``input``, whose elements are uninitialized.

Shape: the shape of ``input``.

Example:
    >>> torch.empty_like(torch.ones(2, 3, dtype=torch.int64)).dtype
    torch.int64
""",
)

add_docstr(
    "zeros",
    """
Make a tensor of zeros.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
""",
)

add_docstr(
    "zeros_like",
    """
Make a tensor of zeros, of the shape and dtype of ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
""",
)

add_docstr(
    "ones",
    """
Make a tensor of ones.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.ones(2, dtype=torch.int64)
    tensor([1, 1])
""",
)

add_docstr(
    "ones_like",
    """
Make a tensor of ones, of the shape and dtype of ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.ones_like(torch.tensor([1.5, 2.5]))
    tensor([1., 1.])
""",
)

add_docstr(
    "full",
    """
Make a tensor whose elements are all ``fill_value``.

Args:
    size: the shape, as a tuple.
    fill_value: a number; without ``dtype``, the dtype of the result follows from the number.

Shape: ``size``.

Example:
    >>> torch.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
""",
)

add_docstr(
    "full_like",
    """
Make a tensor of the shape and dtype of ``input`` whose elements are all ``fill_value``.

Shape: the shape of ``input``.

Example:
    >>> torch.full_like(torch.tensor([1.5, 2.5]), 7)
    tensor([7., 7.])
""",
)

add_docstr(
    "scalar_tensor",
    """
Make a tensor without dimensions from a number. Without ``dtype``, the result has the default dtype.

Shape: ().

Example:
    >>> torch.scalar_tensor(3)
    tensor(3.)
""",
)

add_docstr(
    "new_empty",
    """
Make a tensor of this tensor's dtype, whose elements are uninitialized.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.ones(1, dtype=torch.int64).new_empty(2, 3).dtype
    torch.int64
""",
)

add_docstr(
    "new_empty_strided",
    """
Make a tensor of this tensor's dtype and of given strides, whose elements are uninitialized.

Args:
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.

Shape: ``size``.

Example:
    >>> torch.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
""",
)

add_docstr(
    "new_zeros",
    """
Make a tensor of zeros of this tensor's dtype.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.ones(1, dtype=torch.int64).new_zeros(2)
    tensor([0, 0])
""",
)

add_docstr(
    "new_ones",
    """
Make a tensor of ones of this tensor's dtype.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> torch.zeros(1, dtype=torch.int64).new_ones(2)
    tensor([1, 1])
""",
)

add_docstr(
    "new_full",
    """
Make a tensor of this tensor's dtype whose elements are all ``fill_value``.

Args:
    size: the shape, as a tuple.

Shape: ``size``.

Example:
    >>> torch.zeros(1).new_full((2,), 7)
    tensor([7., 7.])
""",
)

add_docstr(
    "eye",
    """
Make a matrix with ones on the diagonal and zeros elsewhere.

Args:
    n: the number of rows.
    m: the number of columns; by default the number of rows.

Shape: (``n``, ``m``).

Example:
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
""",
)
