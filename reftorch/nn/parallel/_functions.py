"""The copies between devices as ops of the graph. Each pair is the derivative of the other.

Mirrors: torch/nn/parallel/_functions.py
Leaves out: complex tensors.

Note [Derivatives of copies]
A parameter that is copied to :math:`n` devices is used :math:`n` times, so its gradient is the sum of the copies'
gradients: backward of :class:`Broadcast` is :class:`ReduceAddCoalesced`, and backward of the sum is a broadcast. The
gradient of a batch that is split consists of the gradients of its parts, one after the other: backward of
:class:`Scatter` is :class:`Gather`, and backward of the concatenation splits. Because ``backward`` of each class
applies the other class, DataParallel has second derivatives, too.
"""

from __future__ import annotations

from typing import Any

from reftorch._C import device as _device
from reftorch._warnings import warn
from reftorch.autograd import Function
from reftorch.cuda import Stream, current_stream, device_count, init
from reftorch.cuda._utils import _get_device_index
from reftorch.nn.parallel import comm

__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]


class Broadcast(Function):
    """Copies tensors to devices. See Note [Derivatives of copies].

    ``apply(devices, *tensors)`` returns the copies for the first device, then those for the second one, and so on.

    Mirrors torch/nn/parallel/_functions.py, ``Broadcast``.
    """

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, *inputs: Any) -> Any:
        if not all(i.device.type != "cpu" for i in inputs):
            raise AssertionError("Broadcast function not implemented for CPU tensors")
        ctx.target_gpus = [_get_device_index(d, True) for d in target_gpus]
        if not inputs:
            return ()
        ctx.num_inputs = len(inputs)
        ctx.input_device = inputs[0].get_device()
        outputs = comm.broadcast_coalesced(inputs, ctx.target_gpus)
        needed = ctx.needs_input_grad[1:]
        ctx.mark_non_differentiable(
            *(copy for of_device in outputs for copy, needs in zip(of_device, needed, strict=True) if not needs)
        )
        return tuple(copy for of_device in outputs for copy in of_device)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return (None, *ReduceAddCoalesced.apply(ctx.input_device, ctx.num_inputs, *grad_outputs))


class ReduceAddCoalesced(Function):
    """Sums tensors of several devices on one of them. See Note [Derivatives of copies].

    ``apply(destination, n, *tensors)`` takes ``n`` tensors of the first device, then ``n`` of the second one, and so
    on. Backward copies to the first device first, so second derivatives need this device as the destination.

    Mirrors torch/nn/parallel/_functions.py, ``ReduceAddCoalesced``.
    """

    @staticmethod
    def forward(ctx: Any, destination: Any, num_inputs: int, *grads: Any) -> Any:
        groups = [grads[i : i + num_inputs] for i in range(0, len(grads), num_inputs)]
        ctx.target_gpus = [group[0].get_device() for group in groups]
        return comm.reduce_add_coalesced(groups, destination)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return (None, None, *Broadcast.apply(ctx.target_gpus, *grad_outputs))


class Gather(Function):
    """Concatenates tensors of several devices on one device. See Note [Derivatives of copies].

    ``apply(device, dim, *tensors)`` makes a vector of 0-dim tensors, with a warning.

    Mirrors torch/nn/parallel/_functions.py, ``Gather``.
    """

    @staticmethod
    def forward(ctx: Any, target_device: Any, dim: int, *inputs: Any) -> Any:
        if not all(i.device.type != "cpu" for i in inputs):
            raise AssertionError("Gather function not implemented for CPU tensors")
        ctx.dim = dim
        ctx.input_gpus = tuple(i.get_device() for i in inputs)
        ctx.unsqueezed_scalar = dim == 0 and all(t.dim() == 0 for t in inputs)
        if ctx.unsqueezed_scalar:
            inputs = tuple(t.view(1) for t in inputs)
            warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze "
                "and return a vector."
            )
        ctx.input_sizes = tuple(i.size(dim) for i in inputs)
        on_cpu = isinstance(target_device, (str, _device)) and _device(target_device).type == "cpu"
        return comm.gather(inputs, dim, _device("cpu") if on_cpu else _get_device_index(target_device, True))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        parts = Scatter.apply(ctx.input_gpus, ctx.input_sizes, ctx.dim, grad_outputs[0])
        return (None, None, *([p[0] for p in parts] if ctx.unsqueezed_scalar else parts))


class Scatter(Function):
    """Splits a tensor and copies each part to another device. See Note [Derivatives of copies].

    ``apply(devices, chunk_sizes, dim, tensor)`` copies parts of a CPU tensor on a stream of their own for each device.
    Then the copy to one device need not wait for kernels that the program has started there before.

    Mirrors torch/nn/parallel/_functions.py, ``Scatter``.
    """

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, chunk_sizes: Any, dim: int, input: Any) -> Any:
        init()
        indices = [_get_device_index(d, True) for d in target_gpus]
        ctx.dim = dim
        ctx.input_device = "cpu" if input.device.type == "cpu" else input.get_device()
        streams = [_get_stream(_device("cuda", i)) for i in indices] if ctx.input_device == "cpu" else None
        outputs = comm.scatter(input, indices, chunk_sizes, dim, streams)
        if streams is not None:
            for index, copies, output in zip(indices, streams, outputs, strict=False):
                current_stream(index).wait_stream(copies)
                output.record_stream(current_stream(index))
        return outputs

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return None, None, None, Gather.apply(ctx.input_device, ctx.dim, *grad_outputs)


_streams: list[Stream | None] | None = None


def _get_stream(device: Any) -> Any:
    """Return the stream for copies from the host to a CUDA device; it is made at the first use.

    Mirrors torch/nn/parallel/_functions.py, ``_get_stream``.
    """
    global _streams
    if device.type == "cpu" or device_count() == 0:
        return None
    if _streams is None:
        _streams = [None] * device_count()
    found = _streams[device.index]
    if found is None:
        found = _streams[device.index] = Stream(device.index)
    return found
