"""How :func:`torch.nn.functional.linear_cross_entropy` divides a batch into chunks.

Mirrors: torch/nn/modules/linear_cross_entropy_options.py
Leaves out: the choices measured on GPUs.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from reftorch import _C

__all__ = ["LinearCrossEntropyOptions"]

_POLICIES = ("auto", "accurate", "balanced", "compact")


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Options of :func:`torch.nn.functional.linear_cross_entropy` in chunks.

    The scores of N examples and C classes are N * C numbers, and the loss keeps them for backward. A language model has
    more classes (words) than features, so that the scores are larger than all else. In chunks, the function computes
    the scores of a few examples, their loss and the gradients of this loss, and forgets the scores.

    Args:
        allow_retain_graph: whether a second backward pass through the loss is possible. False lets the backward pass
            change the gradients that were computed in forward, and a second pass raises an error.
        batch_chunk_size: the number of examples in a chunk; None leaves it to ``chunking_method``.
        chunking_method: ``"aspect_ratio"`` takes chunks whose scores need about as much memory as the input, and
            ``"aspect_ratio:N"`` takes chunks N times as small; ``"auto"`` is ``"aspect_ratio:2"``, and
            ``"aspect_ratio"`` for the 16-bit dtypes; None makes one chunk.
        acc_policy: ``"accurate"``, ``"balanced"``, ``"compact"`` or ``"auto"``. In PyTorch they differ in which
            intermediate results of 16-bit inputs have ``acc_dtype``; here all of them have it.
        acc_dtype: the dtype of the computation: float32 for 16-bit inputs, else the dtype of the input; None chooses
            float32 for 16-bit inputs if ``acc_policy`` is ``"auto"``, and else the dtype of the input.

    Raises:
        ValueError: an option is unknown or not positive.

    Example:
        >>> options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
        >>> loss = torch.nn.LinearCrossEntropyLoss(3, 50, options=options)
        >>> loss(torch.ones(5, 3), torch.tensor([0, 10, 20, 30, 40])).shape
        torch.Size([])

    Mirrors torch/nn/modules/linear_cross_entropy_options.py, ``LinearCrossEntropyOptions``.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: _C.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            _factor(self.chunking_method)
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        floats = (_C.float16, _C.bfloat16, _C.float32, _C.float64)
        if self.acc_dtype is not None and self.acc_dtype not in floats:
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, "
                f"got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def _adjust(
        self,
        num_batches: int,
        in_features: int,
        num_classes: int,
        dtype: _C.dtype,
        device: _C.device | None = None,
    ) -> LinearCrossEntropyOptions:
        """Return options without ``"auto"`` and None, for a call with these sizes."""
        has_16_bits = dtype in (_C.float16, _C.bfloat16)
        on_cpu = device is not None and device.type == "cpu"
        policy, method = self.acc_policy, self.chunking_method
        if method == "auto" and self.batch_chunk_size is not None:
            method = None
        if policy == "auto":
            policy = "accurate" if has_16_bits and on_cpu else "compact"
        if method == "auto":
            method = "aspect_ratio" if has_16_bits and on_cpu else "aspect_ratio:2"
        size = num_batches if self.batch_chunk_size is None else min(self.batch_chunk_size, num_batches)
        if method is not None:
            size = self._compute_batch_chunk_size(num_batches, in_features, num_classes, method)
            if self.batch_chunk_size is not None and self.batch_chunk_size != size:
                raise ValueError(
                    f"batch_chunk_size (={self.batch_chunk_size}) and chunking_method ('{method}') give different "
                    f"chunk sizes ({self.batch_chunk_size} vs {size}); pass only one."
                )
        acc_dtype = self.acc_dtype
        if acc_dtype is None:
            acc_dtype = _C.float32 if has_16_bits and on_cpu and self.acc_policy == "auto" else dtype
        return dataclasses.replace(
            self, acc_policy=policy, chunking_method=method, batch_chunk_size=max(1, size), acc_dtype=acc_dtype
        )

    def _compute_batch_chunk_size(
        self, num_batches: int, in_features: int, num_classes: int, method: str | None = None
    ) -> int:
        """Return the number of examples whose scores need about as much memory as the input, divided by the factor."""
        factor = _factor(str(method if method is not None else self.chunking_method))
        times_as_wide = -(-num_classes // in_features)
        wanted = -(-num_batches // times_as_wide)
        power_of_two = 1 << (wanted - 1).bit_length()  # the next one that is not smaller
        return min(power_of_two // factor, num_batches)


def _factor(method: str | None) -> int:
    """Return N of ``aspect_ratio:N``; without a number it is 1."""
    name, colon, number = str(method).partition(":")
    number = number if colon else "1"
    if name != "aspect_ratio" or not number.isdigit() or int(number) == 0:
        raise ValueError(f"invalid chunking_method: {method!r}")
    return int(number)
