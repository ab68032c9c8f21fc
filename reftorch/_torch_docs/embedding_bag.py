r"""The docs of rows of a table and of bags of such rows.

Mirrors: torch/nn/functional.py
Leaves out: sparse gradients.
"""

from reftorch._torch_docs._entries import add_docstr

_ARGS = """\
    weight: the table, :math:`(V, D)`.
    indices: row numbers, :math:`(N)`, int64 or int32.
    offsets: where each bag begins, :math:`(B)`.
    scale_grad_by_freq: whether the gradient of a row is divided by the number of times it is looked up.
    mode: 0 for sums, 1 for means, 2 for maxima.
    sparse: must be False.
    per_sample_weights: a number for each row number, :math:`(N)`; only for sums.
    include_last_offset: whether ``offsets`` has a further number at its end, where the last bag ends.
    padding_idx: a row that is left out; -1 means none, and for :func:`embedding_bag`, None means none.
"""
_EXAMPLE = """
    >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> torch.{name}(table, torch.tensor([0, 1, 2]), torch.tensor([0, 2]))[0]
    tensor([[4., 6.],
            [5., 6.]])
"""

for _name, _about in {
    "embedding_bag": "Look up rows of a table and join the rows of a bag: the op of ``nn.functional.embedding_bag``.",
    "_embedding_bag": "Compute :func:`embedding_bag`: the op whose gradient autograd knows.",
    "_embedding_bag_forward_only": "Compute :func:`embedding_bag` for a table that needs no gradient.",
}.items():
    add_docstr(
        _name,
        f"""
{_about}

Args:
{_ARGS}
Shape: the rows of the bags, :math:`(B, D)`; the bag of each row number, :math:`(N)`; the number of rows in each bag,
:math:`(B)`; and for maxima, the row number of each element, :math:`(B, D)`.

Raises:
    RuntimeError: a row number or an offset is out of range, or the sizes and dtypes do not fit.
    NotImplementedError: ``sparse`` is True.

Example:{_EXAMPLE.format(name=_name)}""",
    )

_BACKWARD_ARGS = """\
    indices: row numbers, :math:`(N)`.
    offset2bag: the bag of each row number, :math:`(N)`.
    mode: 0 for sums, 1 for means, 2 for maxima.
    padding_idx: a row that was left out; -1 means none.
"""
_DENSE_ARGS = """\
    bag_size: the number of rows in each bag, :math:`(B)`.
    maximum_indices: the row number of each element of a maximum, :math:`(B, D)`.
    num_weights: the number of rows of the table, V.
    scale_grad_by_freq: the argument of the forward call.
    per_sample_weights: the argument of the forward call.
"""

add_docstr(
    "_embedding_bag_dense_backward",
    f"""
Return the gradient of :func:`embedding_bag` for ``weight``.

Args:
    grad: the gradient of the rows of the bags, :math:`(B, D)`.
{_BACKWARD_ARGS}{_DENSE_ARGS}
Shape: :math:`(V, D)`.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> grad, rows, bags, sizes = torch.ones(1, 2), torch.tensor([0, 2]), torch.tensor([0, 0]), torch.tensor([2])
    >>> torch.ops.aten._embedding_bag_dense_backward(grad, rows, bags, sizes, sizes, 3, False, 1, None)
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000],
            [0.5000, 0.5000]])
""",
)

add_docstr(
    "_embedding_bag_backward",
    f"""
Return the gradient of :func:`embedding_bag` for ``weight``: calls ``_embedding_bag_dense_backward``.

Args:
    grad: the gradient of the rows of the bags, :math:`(B, D)`.
    offsets: the argument of the forward call.
    sparse: must be False.
{_BACKWARD_ARGS}{_DENSE_ARGS}
Shape: :math:`(V, D)`.

Raises:
    NotImplementedError: ``sparse`` is True.

Example:
    >>> grad, rows, bags, sizes = torch.ones(1, 2), torch.tensor([0, 2]), torch.tensor([0, 0]), torch.tensor([2])
    >>> torch.ops.aten._embedding_bag_backward(grad, rows, bags, bags, sizes, sizes, 3, False, 0, False, None)
    tensor([[1., 1.],
            [0., 0.],
            [1., 1.]])
""",
)

add_docstr(
    "_embedding_bag_per_sample_weights_backward",
    f"""
Return the gradient of :func:`embedding_bag` for ``per_sample_weights``.

Args:
    grad: the gradient of the rows of the bags, :math:`(B, D)`.
    weight: the table, :math:`(V, D)`.
    offsets: the argument of the forward call.
{_BACKWARD_ARGS}
Shape: :math:`(N)`.

Raises:
    RuntimeError: ``mode`` is not 0, or the sizes do not fit.

Example:
    >>> table, bags = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0])
    >>> torch.ops.aten._embedding_bag_per_sample_weights_backward(torch.ones(1, 2), table, bags + 1, bags, bags, 0)
    tensor([7.])
""",
)

add_docstr(
    "embedding",
    r"""
Look up rows of a table: ``torch.nn.functional.embedding`` with the table first.

Args:
    weight: the table, :math:`(V, D)`.
    indices: row numbers, int64 or int32, :math:`(*)`.
    padding_idx: a row that gets no gradient; -1 means none.
    scale_grad_by_freq: whether the gradient of a row is divided by the number of times it is looked up.
    sparse: must be False.

Shape: :math:`(*, D)`.

Raises:
    IndexError: a row number is out of range.
    RuntimeError: ``weight`` has not 2 dimensions, or ``indices`` does not hold integers.
    NotImplementedError: ``sparse`` is True.

Example:
    >>> torch.embedding(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1]))
    tensor([[3., 4.]])
""",
)

add_docstr(
    "embedding_renorm_",
    r"""
Scale rows of a table in place, so that the norms of the rows that ``indices`` names are at most ``max_norm``.

Args:
    input: the table, :math:`(V, D)`.
    indices: row numbers, int64 or int32, :math:`(*)`.
    max_norm: the largest norm.
    norm_type: the order of the norm.

Shape: that of ``input``, :math:`(V, D)`; the result is ``input`` itself.

Raises:
    RuntimeError: ``input`` has not 2 dimensions, or ``indices`` does not hold integers.

Example:
    >>> table = torch.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> torch.embedding_renorm_(table, torch.tensor([1]), 5.0, 2.0).round(decimals=3)
    tensor([[3., 4.],
            [3., 4.]])
""",
)

_ROW_ARGS = """\
    indices: the row numbers of the forward call, :math:`(*)`.
    num_weights: the number of rows of the table, V.
    padding_idx: a row that gets no gradient; -1 means none.
    scale_grad_by_freq: whether the gradient of a row is divided by the number of times it was looked up.
"""

add_docstr(
    "embedding_dense_backward",
    f"""
Return the gradient of :func:`embedding` for ``weight``.

Args:
    grad_output: the gradient of the rows, :math:`(*, D)`.
{_ROW_ARGS}
Shape: :math:`(V, D)`.

Example:
    >>> torch.ops.aten.embedding_dense_backward(torch.ones(2, 2), torch.tensor([1, 1]), 3, -1, False)
    tensor([[0., 0.],
            [2., 2.],
            [0., 0.]])
""",
)

add_docstr(
    "embedding_backward",
    f"""
Return the gradient of :func:`embedding` for ``weight``: :func:`embedding_dense_backward`, if ``sparse`` is False.

Args:
    grad: the gradient of the rows, :math:`(*, D)`.
{_ROW_ARGS}    sparse: must be False.

Shape: :math:`(V, D)`.

Raises:
    NotImplementedError: ``sparse`` is True.

Example:
    >>> torch.ops.aten.embedding_backward(torch.ones(2, 1), torch.tensor([1, 0]), 2, 0, False, False)
    tensor([[0.],
            [1.]])
""",
)
