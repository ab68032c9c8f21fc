"""Sums and copies of tensors that lie on several devices of one process.

PyTorch calls NVIDIA's library NCCL, in which the devices talk to each other. Here the device of the root copies the
tensors to itself and adds them, and copies back. The values are those of NCCL up to the order of the sums.

Mirrors: torch/cuda/nccl.py
Leaves out: communicators of several processes, which are in ``reftorch.distributed``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd import no_grad
from reftorch.cuda._device import device_of

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter"]

SUM = 0  # the number of the operation in ncclRedOp_t: 0 is a sum, then a product, the largest and the smallest number
_OPERATIONS: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    _VF.maximum,
    _VF.minimum,
]


def is_available(tensors: Any) -> bool:
    """Return whether the functions of this file take these tensors: dense CUDA tensors on different devices.

    Mirrors torch/cuda/nccl.py, ``is_available``.
    """
    devices = set()
    for tensor in tensors:
        if tensor.is_sparse or not tensor.is_contiguous() or not tensor.is_cuda:
            return False
        if tensor.get_device() in devices:
            return False
        devices.add(tensor.get_device())
    return True


def version() -> tuple[int, int, int]:
    """Return the version of NCCL, which is (0, 0, 0): the library is not used here.

    Mirrors torch/cuda/nccl.py, ``version``.
    """
    return (0, 0, 0)


def _checked(name: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise TypeError("Inputs should be a collection of tensors")
    if len(tensors) == 0:
        raise RuntimeError(f"{name}: expected at least one tensor")
    if not is_available(tensors):
        raise RuntimeError(f"{name}: expected dense, contiguous CUDA tensors, each on a device of its own")
    return list(tensors)


def _check_same(name: str, tensors: Sequence[Tensor], numel: int) -> None:
    for place, tensor in enumerate(tensors):
        if tensor.numel() != numel:
            raise RuntimeError(f"{name}: expected {numel} elements, but tensor {place} has {tensor.numel()}")


def _sum_on(name: str, inputs: list[Tensor], op: int, root: int) -> Tensor:
    if not 0 <= op < len(_OPERATIONS):
        raise RuntimeError(f"{name}: expected the number of an operation from 0 to {len(_OPERATIONS) - 1}, got {op}")
    if not 0 <= root < len(inputs):
        raise RuntimeError(f"{name}: root is {root}, but there are {len(inputs)} tensors")
    _check_same(name, inputs, inputs[0].numel())
    with device_of(inputs[root]):
        total = inputs[0].to(inputs[root].device, copy=True)
        for tensor in inputs[1:]:
            total = _OPERATIONS[op](total, tensor.to(total.device))
    return total


@no_grad()
def all_reduce(inputs: Any, outputs: Any = None, op: int = SUM, streams: Any = None, comms: Any = None) -> None:
    """Write the sum of the inputs to every output.

    Args:
        inputs: tensors of equal shape, each on a device of its own.
        outputs: where the sum is written; the inputs if None.
        op: 0 for the sum, 1 for the product, 2 for the largest, 3 for the smallest number.
        streams: has no effect.
        comms: has no effect.

    Raises:
        TypeError: ``inputs`` is not a sequence.
        RuntimeError: the tensors differ in their number of elements, or are not on different CUDA devices.

    Example:
        >>> if torch.cuda.device_count() > 1:
        ...     parts = [torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")]
        ...     torch.cuda.nccl.all_reduce(parts)
        ...     assert parts[1].tolist() == [2.0, 2.0]

    Mirrors torch/cuda/nccl.py, ``all_reduce``.
    """
    inputs = _checked("all_reduce", inputs)
    total = _sum_on("all_reduce", inputs, op, 0)
    outputs = inputs if outputs is None else _checked("all_reduce", outputs)
    _check_same("all_reduce", outputs, total.numel())
    for output in outputs:
        output.copy_(total.view(output.shape))


@no_grad()
def reduce(
    inputs: Any,
    output: Any = None,
    root: int = 0,
    op: int = SUM,
    streams: Any = None,
    comms: Any = None,
    *,
    outputs: Any = None,
) -> None:
    """Write the sum of the inputs to one tensor on the device of the root.

    Args:
        inputs: tensors of equal shape, each on a device of its own.
        output: where the sum is written; the root's input if None.
        root: the place of the input on whose device the sum is made.
        op: see :func:`all_reduce`.
        streams: has no effect.
        comms: has no effect.
        outputs: deprecated: a sequence, of which the root's tensor is the output.

    Raises:
        TypeError: ``inputs`` is not a sequence.
        RuntimeError: the tensors differ in their number of elements, or are not on different CUDA devices.

    Mirrors torch/cuda/nccl.py, ``reduce``.
    """
    inputs = _checked("reduce", inputs)
    total = _sum_on("reduce", inputs, op, root)
    if outputs is not None:
        if output is not None:
            raise ValueError(
                "'output' and 'outputs' can not be both specified. 'outputs' is deprecated in favor of 'output', "
                "taking in a single output tensor. The signature of reduce is: reduce(inputs, output=None, root=0, "
                "op=SUM, streams=None, comms=None)."
            )
        warn(
            "`nccl.reduce` with an output tensor list is deprecated. Please specify a single output tensor with "
            "argument 'output' instead instead.",
            FutureWarning,
        )
        output = outputs[root]
    output = inputs[root] if output is None else output
    _check_same("reduce", [output], total.numel())
    output.copy_(total.view(output.shape))


@no_grad()
def broadcast(inputs: Any, root: int = 0, streams: Any = None, comms: Any = None) -> None:
    """Copy the root's tensor to all others.

    Args:
        inputs: tensors of equal shape, each on a device of its own.
        root: the place of the tensor that is copied.
        streams: has no effect.
        comms: has no effect.

    Mirrors torch/cuda/nccl.py, ``broadcast``.
    """
    inputs = _checked("broadcast", inputs)
    if not 0 <= root < len(inputs):
        raise RuntimeError(f"broadcast: root is {root}, but there are {len(inputs)} tensors")
    _check_same("broadcast", inputs, inputs[root].numel())
    for tensor in inputs:
        if tensor is not inputs[root]:
            tensor.copy_(inputs[root].view(tensor.shape))


@no_grad()
def all_gather(inputs: Any, outputs: Any, streams: Any = None, comms: Any = None) -> None:
    """Write the elements of all inputs, one input after the other, to every output.

    Args:
        inputs: tensors of equal shape, each on a device of its own.
        outputs: tensors with as many elements as all inputs together.
        streams: has no effect.
        comms: has no effect.

    Mirrors torch/cuda/nccl.py, ``all_gather``.
    """
    inputs, outputs = _checked("all_gather", inputs), _checked("all_gather", outputs)
    numel = inputs[0].numel()
    _check_same("all_gather", inputs, numel)
    _check_same("all_gather", outputs, numel * len(inputs))
    for output in outputs:
        for place, tensor in enumerate(inputs):
            output.view(-1)[place * numel : (place + 1) * numel].copy_(tensor.view(-1))


@no_grad()
def reduce_scatter(inputs: Any, outputs: Any, op: int = SUM, streams: Any = None, comms: Any = None) -> None:
    """Write the sum of the inputs to the outputs, to each output one part of the sum.

    Args:
        inputs: tensors of equal shape, each on a device of its own, with as many elements as all outputs together.
        outputs: tensors of equal shape.
        op: see :func:`all_reduce`.
        streams: has no effect.
        comms: has no effect.

    Mirrors torch/cuda/nccl.py, ``reduce_scatter``.
    """
    inputs, outputs = _checked("reduce_scatter", inputs), _checked("reduce_scatter", outputs)
    total = _sum_on("reduce_scatter", inputs, op, 0).view(-1)
    numel = outputs[0].numel()
    _check_same("reduce_scatter", outputs, numel)
    _check_same("reduce_scatter", [total], numel * len(outputs))
    for place, output in enumerate(outputs):
        output.copy_(total[place * numel : (place + 1) * numel].view(output.shape))
