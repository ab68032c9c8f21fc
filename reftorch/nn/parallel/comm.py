"""Copies of tensors between the devices of one process.

Mirrors: torch/nn/parallel/comm.py, torch/csrc/cuda/comm.cpp
Leaves out: NCCL, so each sum is a chain of copies and additions; complex and sparse tensors.

Note [Coalesced copies]
Problem: a model has many small parameters, and each copy to another device costs a launch, however few bytes move.
Trick: the tensors of one dtype are joined into a flat buffer, the buffer is copied once, and views of the buffer have
the shapes of the tensors. Limits: views of one buffer would share a version counter, so an in-place change of one
would look like a change of all to backward. ``detach()`` gives no counter of its own, ``.data`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._C import device as _device
from reftorch._tensor import Tensor
from reftorch._utils import _flatten_dense_tensors, _reorder_tensors_as, _take_tensors, _unflatten_dense_tensors
from reftorch._warnings import warn
from reftorch.cuda import init, stream
from reftorch.cuda._utils import _get_device_index

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]


def _indices(devices: Iterable[Any], what: str) -> list[int]:
    """Return the numbers of CUDA devices, which must be one at least."""
    init()
    indices = [_get_device_index(d) for d in devices]
    if not indices:
        raise RuntimeError(f"Expected at least one device to {what} to")
    for index in indices:
        if index < 0:
            raise RuntimeError(f"Expected non-negative device index, but got {index}")
    return indices


def _check_on_cuda(tensors: Sequence[Tensor], what: str) -> None:
    for i, tensor in enumerate(tensors):
        if not tensor.is_cuda:
            raise RuntimeError(
                f"Expected all {what} tensors to be CUDA tensors, but {what} tensor at index {i} has device "
                f"'{tensor.device}'"
            )


def _to(tensor: Tensor, index: int) -> Tensor:
    """Return the tensor on a CUDA device: the tensor itself if that is its device."""
    return tensor.to(_device("cuda", index), non_blocking=True)


def broadcast(
    tensor: Tensor, devices: Iterable[Any] | None = None, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Copy a tensor to several CUDA devices.

    Args:
        tensor: the tensor, on the CPU or on a device.
        devices: the devices, or their numbers.
        out: tensors for the copies, in place of ``devices``.

    Returns:
        One tensor for each device. For the device of ``tensor`` this is ``tensor`` itself.

    Raises:
        RuntimeError: both or none of ``devices`` and ``out`` are given, there is no device, or a tensor of ``out`` is
            not on a CUDA device or has another shape.

    Example:
        >>> from reftorch.nn.parallel import comm
        >>> comm.broadcast(torch.ones(2))
        Traceback (most recent call last):
        RuntimeError: Exactly one of 'devices' and 'out' must be specified, but got devices=None and out=None

    Mirrors torch/nn/parallel/comm.py, ``broadcast``.
    """
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}"
        )
    if devices is not None:
        return tuple(_to(tensor, index) for index in _indices(devices, "broadcast"))
    assert out is not None
    _check_on_cuda(out, "output")
    for i, copy in enumerate(out):
        if copy.shape != tensor.shape:
            raise RuntimeError(
                "Expected all output tensors to have same shape as the source tensor "
                f"{list(tensor.shape)}, but output tensor at index {i} has shape {list(copy.shape)}"
            )
        if copy is not tensor:
            copy.copy_(tensor, non_blocking=True)
    return tuple(out)


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Iterable[Any], buffer_size: int = 10485760
) -> list[list[Tensor]]:
    """Copy many tensors to several CUDA devices, through few buffers. See Note [Coalesced copies].

    Args:
        tensors: tensors of any dtypes, all on the first of the devices.
        devices: the devices, or their numbers.
        buffer_size: the most bytes of a buffer, unless one tensor alone is larger.

    Returns:
        A list for each device, with the copies in the order of ``tensors``.
        For the first device these are ``tensors`` themselves.

    Raises:
        RuntimeError: there is no device, or a tensor is not on the first of the devices.

    Mirrors torch/nn/parallel/comm.py, ``broadcast_coalesced``.
    """
    indices = _indices(devices, "broadcast")
    if not all(t.is_cuda and t.get_device() == indices[0] for t in tensors):
        raise RuntimeError(f"All tensors must be on devices[0]: {indices[0]}")
    chunks = [(chunk, _flatten_dense_tensors(chunk)) for chunk in _take_tensors(tensors, buffer_size)]
    outputs = [list(tensors)]
    for index in indices[1:]:
        copies = [c.data for chunk, flat in chunks for c in _unflatten_dense_tensors(_to(flat, index), chunk)]
        outputs.append(list(_reorder_tensors_as(copies, tensors)))
    return outputs


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """Return the sum of tensors that are on different CUDA devices.

    Args:
        inputs: tensors of one shape. One of them is on ``destination``.
        destination: the device of the sum; None means the current device.

    Raises:
        AssertionError: an input is on the CPU.
        ValueError: the shapes differ.
        RuntimeError: no input is on ``destination``.

    Mirrors torch/nn/parallel/comm.py, ``reduce_add``.
    """
    init()
    destination = _get_device_index(destination, optional=True)
    root = None
    for i, tensor in enumerate(inputs):
        if tensor.device.type == "cpu":
            raise AssertionError(f"reduce_add expects all inputs to be on GPUs, but input {i} is on CPU")
        if tensor.get_device() == destination:
            root = i
        if tensor.shape != inputs[0].shape:
            got, expected = ("x".join(map(str, t.shape)) for t in (tensor, inputs[0]))
            raise ValueError(f"input {i} has invalid size: got {got}, but expected {expected}")
    if root is None:
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors")
    if len(inputs) == 1:
        return inputs[0]
    others = [_to(t, destination) for i, t in enumerate(inputs) if i != root]
    result = inputs[root] + others[0]
    for other in others[1:]:
        result.add_(other)
    return result


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """Sum many tensors over several CUDA devices, through few buffers. See Note [Coalesced copies].

    Args:
        inputs: for each device a list of tensors; the tensors at one place of the lists are summed.
        destination: the device of the sums; None means the current device.
        buffer_size: the most bytes of a buffer, unless one tensor alone is larger.

    Raises:
        AssertionError, ValueError, RuntimeError: as for :func:`reduce_add`.

    Mirrors torch/nn/parallel/comm.py, ``reduce_add_coalesced``.
    """
    output: list[Tensor] = []
    for chunks in zip(*(_take_tensors(of_device, buffer_size) for of_device in inputs), strict=True):
        total = reduce_add([_flatten_dense_tensors(chunk) for chunk in chunks], destination)
        output += [t.data for t in _unflatten_dense_tensors(total, chunks[0])]
    return _reorder_tensors_as(output, inputs[0])


def scatter(
    tensor: Tensor,
    devices: Iterable[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[Any] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Split a tensor, and copy each part to another CUDA device.

    Args:
        tensor: the tensor, on the CPU or on a device.
        devices: the devices, or their numbers.
        chunk_sizes: the sizes of the parts in dimension ``dim``. By default the parts are those of ``tensor.chunk``:
            equal ones except for the last, and fewer than devices if the dimension is short.
        dim: the dimension that is split.
        streams: for each device the stream for the copy; None means its current stream.
        out: tensors for the parts, in place of ``devices`` and ``chunk_sizes``.

    Raises:
        RuntimeError: ``out`` is given beside ``devices`` or ``chunk_sizes``, there is no device, or lengths or shapes
            do not match.

    Mirrors torch/nn/parallel/comm.py, ``scatter``.
    """
    if out is None:
        if devices is None:
            raise RuntimeError("Expected at least one device to scatter to")
        indices = _indices(devices, "scatter")
        if chunk_sizes is not None and len(chunk_sizes) != len(indices):
            raise RuntimeError(
                "Expected devices and chunk_sizes to be of same length, but got "
                f"len(devices) = {len(indices)} and len(chunk_sizes) = {len(chunk_sizes)}"
            )
        chunks = tensor.chunk(len(indices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
        parts = []
        for i, chunk in enumerate(chunks):
            with stream(streams[i] if streams is not None else None):
                parts.append(_to(chunk, indices[i]))
        return tuple(parts)
    if devices is not None:
        raise RuntimeError(f"'devices' must not be specified when 'out' is specified, but got devices={devices}")
    if chunk_sizes is not None:
        raise RuntimeError(
            f"'chunk_sizes' must not be specified when 'out' is specified, but got chunk_sizes={chunk_sizes}"
        )
    if not out:
        raise RuntimeError("Expected at least one output tensor to scatter to")
    _check_on_cuda(out, "output")
    sizes = _sizes_along(out, tensor.shape, dim, "Output")
    if sum(sizes) != tensor.size(dim):
        raise RuntimeError(
            f"Total size for output tensors along scatter dim {dim} does not match the source tensor: expected "
            f"{tensor.size(dim)}, but got {sum(sizes)}"
        )
    for i, (part, chunk) in enumerate(zip(out, tensor.split(sizes, dim), strict=True)):
        with stream(streams[i] if streams is not None else None):
            part.copy_(chunk, non_blocking=True)
    return tuple(out)


def _sizes_along(tensors: Sequence[Tensor], shape: Sequence[int], dim: int, what: str) -> list[int]:
    """Return the sizes of tensors in one dimension; their shapes must equal ``shape`` in all others."""
    sizes = []
    for i, tensor in enumerate(tensors):
        if tensor.dim() != len(shape):
            if what == "Output":
                raise RuntimeError(
                    f"Output tensor at index {i} has incorrect shape: {list(tensor.shape)}. Expected same shape except "
                    f"for scatter dim {dim} as the source tensor: {list(shape)}"
                )
            raise RuntimeError(
                f"Expected all input tensors to have the same number of dimensions, but got {tensor.dim()} dimensions "
                f"at index {i}, expected {len(shape)}"
            )
        expected = list(shape)
        expected[dim] = tensor.size(dim)
        if list(tensor.shape) != expected:
            raise RuntimeError(
                f"{what} tensor at index {i} has invalid shape {list(tensor.shape)}, but expected {expected}"
            )
        sizes.append(tensor.size(dim))
    return sizes


def gather(tensors: Iterable[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors that are on different CUDA devices.

    Args:
        tensors: tensors whose shapes differ in dimension ``dim`` only.
        dim: the dimension along which they are concatenated.
        destination: the device of the result, which may be the CPU; None means the current CUDA device.
        out: a tensor for the result, in place of ``destination``.

    Raises:
        RuntimeError: ``out`` is given beside ``destination``, there is no tensor, or a tensor is on the CPU or has a
            shape that does not match.

    Mirrors torch/nn/parallel/comm.py, ``gather``.
    """
    init()
    tensors = list(tensors)
    if out is None:
        if isinstance(destination, int) and destination == -1:
            warn(
                "Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, e.g., "
                '"cpu".',
                FutureWarning,
            )
        index = _get_device_index(destination, optional=True, allow_cpu=True)
        place = _device("cpu") if index == -1 else _device("cuda", index)
    elif destination is not None:
        raise RuntimeError(
            f"'destination' must not be specified when 'out' is specified, but got destination={destination}"
        )
    else:
        place = out.device
    if not tensors:
        raise RuntimeError("Expected at least one tensor to gather from")
    _check_on_cuda(tensors, "input")
    sizes = _sizes_along(tensors, tensors[0].shape, dim, "Input")
    if out is None:
        return _VF.cat([t.to(place) for t in tensors], dim)
    shape = list(tensors[0].shape)
    shape[dim] = sum(sizes)
    if list(out.shape) != shape:
        raise RuntimeError(f"Expected out tensor to have shape {shape}, but got {list(out.shape)}")
    for part, tensor in zip(out.split(sizes, dim), tensors, strict=True):
        part.copy_(tensor)
    return out
