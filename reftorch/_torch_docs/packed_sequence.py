"""The docs of the ops that pack and pad sequences.

Mirrors: torch/nn/utils/rnn.py
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "_pack_padded_sequence",
    r"""
Return a batch of padded sequences without its padding, step by step, and the number of sequences in each step. It is
the op of ``torch.nn.utils.rnn.pack_padded_sequence``.

Args:
    input: (T, B, \*), or (B, T, \*) if ``batch_first``.
    lengths: the length of each sequence, int64, on the CPU, longest first.
    batch_first: whether the first dimension is the batch.

Shape: (sum of the lengths, \*), and (longest).

Raises:
    RuntimeError: the lengths are not in order, too large, or not as many as the sequences.

Example:
    >>> torch._pack_padded_sequence(torch.tensor([[1, 2, 3], [4, 5, 0]]), torch.tensor([3, 2]), True)
    (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
""",
)

add_docstr(
    "_pack_padded_sequence_backward",
    """
Return the gradient of :func:`_pack_padded_sequence` for its input; it is 0 in the padding.

Args:
    input_size: the shape of the input.
    batch_sizes: the number of sequences in each step.
    batch_first: whether the first dimension is the batch.

Shape: ``input_size``.

Example:
    >>> torch.ops.aten._pack_padded_sequence_backward(torch.ones(3), [2, 2], torch.tensor([2, 1]), True)
    tensor([[1., 1.],
            [1., 0.]])
""",
)

add_docstr(
    "_pad_packed_sequence",
    r"""
Return a packed batch as padded sequences, and their lengths. It is the op of
``torch.nn.utils.rnn.pad_packed_sequence``.

Args:
    data: (sum of ``batch_sizes``, \*).
    batch_sizes: the number of sequences in each step, int64, on the CPU.
    batch_first: whether the first dimension of the result is the batch.
    padding_value: the value after the end of a sequence.
    total_length: the number of time steps of the result; 0 or less means the length of the longest sequence.

Shape: (T, B, \*), or (B, T, \*) if ``batch_first``; and (B).

Raises:
    RuntimeError: ``total_length`` is less than the length of the longest sequence.

Example:
    >>> torch._pad_packed_sequence(torch.tensor([1, 4, 2, 5, 3]), torch.tensor([2, 2, 1]), True, 0, -1)
    (tensor([[1, 2, 3],
            [4, 5, 0]]), tensor([3, 2]))
""",
)

add_docstr(
    "pad_sequence",
    r"""
Pad sequences to the length of the longest one, and stack them. The public name is ``torch.nn.utils.rnn.pad_sequence``.

Args:
    sequences: tensors of shape (T_i, \*).
    batch_first: whether the first dimension of the result is the batch.
    padding_value: the value before or after a sequence.
    padding_side: ``"right"`` to pad after the end, ``"left"`` to pad before the start.

Shape: (T, B, \*), or (B, T, \*) if ``batch_first``.

Raises:
    RuntimeError: ``sequences`` is empty, ``padding_side`` is unknown, or shapes do not fit.

Example:
    >>> torch._C._nn.pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
""",
)
