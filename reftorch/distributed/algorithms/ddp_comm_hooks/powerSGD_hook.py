r"""PowerSGD: gradients travel as products of two thin matrices.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py
Leaves out: batches of tensors with one shape, statistics in the log, overlap of collectives.

Note [PowerSGD]
Problem: the gradient :math:`M` of a layer has :math:`n \cdot m` numbers. Trick: :math:`M \approx P Q^\top` with
:math:`r` columns needs :math:`r (n + m)`. One step of the power method finds such matrices, and each of its products is
linear in :math:`M`, so averages over ranks may be taken on the thin matrices: :math:`P = M Q`, average and
orthogonalize :math:`P`, then :math:`Q = M^\top P`, average :math:`Q`. The :math:`Q` of the last pass is a good start
for the next one (warm start). What the product misses is added to the gradient of the next pass (error feedback), so
nothing is lost for ever. :func:`batched_powerSGD_hook` takes a whole bucket as one square matrix: fewer products and
messages, but the rows of this matrix have nothing in common, so it learns worse. Limits: the first passes decide much
and are not compressed; tensors for which little is saved never are. Paper: T. Vogels, S. P. Karimireddy, M. Jaggi:
PowerSGD, https://arxiv.org/abs/1905.13727
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _C, _VF
from reftorch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from reftorch._warnings import warn
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import GradBucket
from reftorch.distributed.algorithms.ddp_comm_hooks import default_hooks
from reftorch.futures import Future

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


def _orthogonalize(matrix: Any, epsilon: float = 0) -> None:
    """Make the columns of a matrix orthonormal in place, by the method of Gram and Schmidt."""
    for i in range(matrix.shape[1]):
        column = matrix[:, i : i + 1]
        column.div_(column.norm(dim=0, keepdim=True) + epsilon)
        rest = matrix[:, i + 1 :]
        rest.sub_((column * rest).sum(dim=0, keepdim=True) * column)


class PowerSGDState:
    """Settings and memory of :func:`powerSGD_hook`. See Note [PowerSGD].

    Args:
        process_group: the group; None means the default group.
        matrix_approximation_rank: the number of columns of the thin matrices.
        start_powerSGD_iter: the number of passes at the begin that are not compressed.
        min_compression_rate: how many times fewer numbers must travel for a tensor to be compressed.
        use_error_feedback: whether what is lost in a pass is added in the next one.
        warm_start: whether a pass begins with the matrices of the last one.
        orthogonalization_epsilon: is added to the norms of columns; for gradients with columns of zeros.
        random_seed: seed of the first matrices; equal on all ranks.

    Raises:
        ValueError: ``start_powerSGD_iter`` is less than 2 although passes use what earlier ones left: buckets are built
            again after the first pass.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, ``PowerSGDState``.
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        import numpy as np  # its generator draws the seeds, as in PyTorch

        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because PowerSGD "
                "can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Any] = {}
        self.q_memory_dict: dict[int, list[Any]] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0

    def __getstate__(self) -> dict[str, Any]:
        warn("NOTE: Process group is not serializable and excluded from a saved state.")
        return {name: value for name, value in self.__dict__.items() if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = None
        self.__dict__.update(state)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count the passes: the last bucket ends one."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """Return the ratio of numbers before and after compression, and both numbers."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0, before, after)


def _average(tensor: Any, group: Any) -> Any:
    c10d.all_reduce(tensor, group=group)
    return tensor.div_(c10d.get_world_size(group))


def _first_factors(state: PowerSGDState, matrices: list[Any], ranks: list[int]) -> list[Any]:
    """Return random matrices (m, r), equal on all ranks."""
    generator = _C.Generator()
    generator.manual_seed(int(state.rng.randint(1_000_000_000)))
    return [
        _VF.randn((m.shape[1], r), dtype=m.dtype, generator=generator).to(m.device)
        for m, r in zip(matrices, ranks, strict=True)
    ]


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    """Average the gradients of a bucket, large ones as products of thin matrices. See Note [PowerSGD].

    Args:
        state: settings and memory.
        bucket: the gradients.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, ``powerSGD_hook``.
    """
    group, flat, number = state.process_group, bucket.buffer(), bucket.index()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(group, bucket)
    original = _with_error(state, number, flat)
    matrices, ranks, plain = [], [], []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() else gradient.view(1, 1)
        n, m = matrix.shape
        rank = min(n, m, state.matrix_approximation_rank)
        after = (n + m) * rank
        compress = after * state.min_compression_rate < n * m
        state.total_numel_before_compression += n * m
        state.total_numel_after_compression += after if compress else n * m
        if compress:
            matrices.append(matrix)
            ranks.append(rank)
        else:
            plain.append(gradient)
    if plain:
        _average_together(plain, group)
    if matrices:
        _approximate(state, number, matrices, ranks)
    return _finished(state, bucket, original, flat)


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    """Average the gradients of a bucket as one square matrix, with zeros at its end. See Note [PowerSGD].

    Args:
        state: settings and memory.
        bucket: the gradients.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, ``batched_powerSGD_hook``.
    """
    group, flat, number = state.process_group, bucket.buffer(), bucket.index()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(group, bucket)
    count = flat.numel()
    side = math.ceil(math.sqrt(count))
    square = _VF.cat([flat, flat.new_zeros(side * side - count)])
    original = _with_error(state, number, square)
    rank = min(side, state.matrix_approximation_rank)
    state.total_numel_before_compression += count
    state.total_numel_after_compression += 2 * side * rank
    _approximate(state, number, [square.view(side, side)], [rank])
    flat.copy_(square[:count])
    return _finished(state, bucket, original, square)


def _with_error(state: PowerSGDState, number: int, values: Any) -> Any:
    """Add the error of the last pass to the numbers of a bucket; return a copy of them, or None without feedback."""
    if not state.use_error_feedback:
        return None
    if number in state.error_dict:
        values.add_(state.error_dict[number])
    return values.clone()


def _finished(state: PowerSGDState, bucket: GradBucket, original: Any, values: Any) -> Future[Any]:
    """Keep the difference of the numbers before and after compression for the next pass, and return the bucket."""
    if original is not None:
        state.error_dict[bucket.index()] = original.sub_(values)
    state.maybe_increase_iter(bucket)
    future: Future[Any] = Future()
    future.set_result(bucket.buffer())
    return future


def _approximate(state: PowerSGDState, number: int, matrices: list[Any], ranks: list[int]) -> None:
    """Replace matrices by products of thin matrices that are averages over all ranks."""
    group = state.process_group
    if state.warm_start and number in state.q_memory_dict:
        qs = state.q_memory_dict[number]
    else:
        qs = _first_factors(state, matrices, ranks)
    for q in qs:
        _orthogonalize(q, state.orthogonalization_epsilon)
    ps = [m @ q for m, q in zip(matrices, qs, strict=True)]
    _average_together(ps, group)
    for p in ps:
        _orthogonalize(p, state.orthogonalization_epsilon)
    qs = [m.t() @ p for m, p in zip(matrices, ps, strict=True)]
    _average_together(qs, group)
    for matrix, p, q in zip(matrices, ps, qs, strict=True):
        matrix.copy_(p @ q.t())
    state.q_memory_dict[number] = qs


def _average_together(tensors: list[Any], group: Any) -> None:
    """Average several tensors in place, with one message."""
    flat = _average(_flatten_dense_tensors(tensors), group)
    for tensor, average in zip(tensors, _unflatten_dense_tensors(flat, tensors), strict=True):
        tensor.copy_(average)
