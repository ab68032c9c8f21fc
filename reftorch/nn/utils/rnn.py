"""Batches of sequences of different lengths: packed, or padded to one length.

Mirrors: torch/nn/utils/rnn.py
Leaves out: calls while TorchScript traces. The ops that pack and pad are in ATen/native/PackedSequence.cpp.

Note [Packed sequences]
    A recurrent network computes one time step for all sequences of the batch that have not ended. If the sequences
    are sorted by length, longest first, these are always the first ones. So a packed sequence has no padding: ``data``
    holds the elements of the first step, then those of the second step, and so on, and ``batch_sizes`` says how many
    sequences each step has. For the sequences ``a b c``, ``d e`` and ``f``, data is ``a d f b e c`` and batch_sizes is
    3, 2, 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from reftorch import _C, _VF
from reftorch._tensor import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of a :class:`PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences without padding, step by step: see Note [Packed sequences]. The functions of this file make them.

    Args:
        data: the elements, :math:`(B, *)` with the sum :math:`B` of ``batch_sizes``; or a pair of data and batch_sizes.
        batch_sizes: the number of sequences in each step, int64, on the CPU.
        sorted_indices: how the sequences were sorted by length; None if they were sorted already.
        unsorted_indices: the inverse of ``sorted_indices``, which is computed if it is missing.

    Raises:
        ValueError: ``batch_sizes`` is not on the CPU.
        AssertionError: ``batch_sizes`` is missing, and ``data`` is not a pair.

    Example:
        >>> sequences = [torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])]
        >>> packed = torch.nn.utils.rnn.pack_sequence(sequences)
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 6, 2, 5, 3]), tensor([3, 2, 1]))

    Mirrors torch/nn/utils/rnn.py, ``PackedSequence``.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Any:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _moved(self, data: Tensor, move: Any) -> Any:
        """Return a packed sequence with other data, whose indices went the same way; batch_sizes stay on the CPU."""
        indices = [None if t is None else move(t) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *indices)

    def pin_memory(self) -> Any:
        """Return a copy in pinned memory."""
        return self._moved(self.data.pin_memory(), lambda t: t.pin_memory())

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert the data as :meth:`Tensor.to` does. Return self if nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._moved(data, lambda t: t.to(data.device))

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """Move to a CUDA device."""
        moved = _VF.empty(0, dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        return self.to(*args, **kwargs) if moved.is_cuda else self.to(*args, **{**kwargs, "device": "cuda"})

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        """Move to the CPU."""
        moved = _VF.empty(0, dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        return self.to(*args, **kwargs) if moved.device.type == "cpu" else self.to(*args, **{**kwargs, "device": "cpu"})

    def double(self) -> Any:
        """Convert to float64."""
        return self.to(dtype=_C.float64)

    def float(self) -> Any:
        """Convert to float32."""
        return self.to(dtype=_C.float32)

    def half(self) -> Any:
        """Convert to float16."""
        return self.to(dtype=_C.float16)

    def long(self) -> Any:
        """Convert to int64."""
        return self.to(dtype=_C.int64)

    def int(self) -> Any:
        """Convert to int32."""
        return self.to(dtype=_C.int32)

    def short(self) -> Any:
        """Convert to int16."""
        return self.to(dtype=_C.int16)

    def char(self) -> Any:
        """Convert to int8."""
        return self.to(dtype=_C.int8)

    def byte(self) -> Any:
        """Convert to uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self) -> bool:
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Return whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of a permutation; None for None.

    Example:
        >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
        tensor([1, 2, 0])

    Mirrors torch/nn/utils/rnn.py, ``invert_permutation``.
    """
    if permutation is None:
        return None
    places = _VF.arange(0, permutation.numel(), device=permutation.device)
    return _VF.empty_like(permutation).scatter_(0, permutation, places)


def _as_lengths(lengths: Any) -> Tensor:
    return lengths.to(_C.int64) if isinstance(lengths, Tensor) else _C.tensor(list(lengths), dtype=_C.int64)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a batch of padded sequences.

    Args:
        input: :math:`(T, B, *)`, or :math:`(B, T, *)` if ``batch_first``.
        lengths: the length of each sequence, a list or a tensor on the CPU.
        batch_first: whether the first dimension is the batch.
        enforce_sorted: whether the sequences must be sorted by length, longest first; otherwise they are sorted here.

    Raises:
        RuntimeError: the number of lengths is not that of the sequences, a length is zero or too large, or the lengths
            are not in order.

    Example:
        >>> padded = torch.tensor([[1, 2, 3], [4, 5, 0]])
        >>> torch.nn.utils.rnn.pack_padded_sequence(padded, [3, 2], batch_first=True).data
        tensor([1, 4, 2, 5, 3])

    Mirrors torch/nn/utils/rnn.py, ``pack_padded_sequence``.
    """
    lengths = _as_lengths(lengths)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = _VF.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _VF._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return a packed batch as padded sequences, and their lengths: the inverse of :func:`pack_padded_sequence`.

    Args:
        sequence: the packed batch.
        batch_first: whether the first dimension of the result is the batch.
        padding_value: the value after the end of a sequence.
        total_length: the number of time steps of the result; None means the length of the longest sequence.

    Returns:
        The sequences, :math:`(T, B, *)` or :math:`(B, T, *)`, and their lengths, :math:`(B)`.

    Raises:
        ValueError: ``total_length`` is less than the length of the longest sequence.

    Example:
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
        >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 5, 0]]), tensor([3, 2]))

    Mirrors torch/nn/utils/rnn.py, ``pad_packed_sequence``.
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {steps}"
        )
    padded, lengths = _VF._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, -1 if total_length is None else total_length
    )
    unsorted_indices = sequence.unsorted_indices
    if unsorted_indices is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, unsorted_indices), lengths[unsorted_indices.cpu()]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Pad sequences to the length of the longest one, and stack them.

    Args:
        sequences: iterable of tensors :math:`(T_i, *)`.
        batch_first: whether the first dimension of the result is the batch.
        padding_value: the value before or after a sequence.
        padding_side: ``"right"`` to pad after the end, ``"left"`` to pad before the start.

    Returns:
        :math:`(T, B, *)`, or :math:`(B, T, *)` if ``batch_first``.

    Raises:
        RuntimeError: ``sequences`` is not iterable or is empty, ``padding_side`` is unknown, or shapes do not fit.

    Example:
        >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
        tensor([[1, 2, 3],
                [4, 0, 0]])

    Mirrors torch/nn/utils/rnn.py, ``pad_sequence``.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    return _C._nn.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return padded sequences as a list of sequences of their own lengths.

    Args:
        padded_sequences: :math:`(T, B, *)`, or :math:`(B, T, *)` if ``batch_first``.
        lengths: the lengths, :math:`(B)`.
        batch_first: whether the first dimension is the batch. If it is not, ``padded_sequences`` is transposed in
            place, as PyTorch does.

    Example:
        >>> padded = torch.tensor([[1, 2, 3], [4, 0, 0]])
        >>> torch.nn.utils.rnn.unpad_sequence(padded, torch.tensor([3, 1]), batch_first=True)
        [tensor([1, 2, 3]), tensor([4])]

    Mirrors torch/nn/utils/rnn.py, ``unpad_sequence``.
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = _VF.arange(padded_sequences.shape[1], device=lengths.device)
    return [sequence[places < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences.

    Args:
        sequences: tensors :math:`(T_i, *)`.
        enforce_sorted: whether the sequences must be sorted by length, longest first; otherwise they are sorted here.

    Raises:
        RuntimeError: the lengths are not in order, or a sequence is empty.

    Example:
        >>> sequences = [torch.tensor([4, 5]), torch.tensor([1, 2, 3])]
        >>> torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False).sorted_indices
        tensor([1, 0])

    Mirrors torch/nn/utils/rnn.py, ``pack_sequence``.
    """
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return a packed batch as a list of sequences: the inverse of :func:`pack_sequence`.

    Example:
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
        >>> torch.nn.utils.rnn.unpack_sequence(packed)
        [tensor([1, 2, 3]), tensor([4, 5])]

    Mirrors torch/nn/utils/rnn.py, ``unpack_sequence``.
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
