"""Arguments of a module split among devices, and results of its replicas joined.

Mirrors: torch/nn/parallel/scatter_gather.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch._tensor import Tensor
from reftorch.nn.parallel._functions import Gather, Scatter
from reftorch.utils._pytree import _is_namedtuple

__all__ = ["gather", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Return whether an object is a namedtuple.

    Mirrors torch/nn/parallel/scatter_gather.py, ``is_namedtuple``.
    """
    return _is_namedtuple(type(obj))


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Return a copy of ``inputs`` for each device, in which each tensor is replaced by a part of it.

    Tuples, namedtuples, lists and dicts are searched for tensors; any other object is handed to all devices as it is.

    Args:
        inputs: a tensor, or a structure that contains tensors.
        target_gpus: the CUDA devices, or their numbers.
        dim: the dimension of the batch.

    Returns:
        As many copies as the shortest split has parts. A batch that is smaller than the number of devices gives fewer
        copies than devices.

    Mirrors torch/nn/parallel/scatter_gather.py, ``scatter``.
    """

    def parts(items: Any) -> Any:
        return zip(*(scatter(item, target_gpus, dim) for item in items), strict=False)

    if isinstance(inputs, Tensor):
        return Scatter.apply(target_gpus, None, dim, inputs)
    if is_namedtuple(inputs):
        return [type(inputs)(*part) for part in parts(inputs)]
    if isinstance(inputs, tuple) and inputs:
        return list(parts(inputs))
    if isinstance(inputs, list) and inputs:
        return [list(part) for part in parts(inputs)]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(part) for part in parts(inputs.items())]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Return the arguments by place and the arguments by name, for each device that gets any.

    Args:
        inputs, kwargs: the arguments of a module.
        target_gpus, dim: as for :func:`scatter`.

    Mirrors torch/nn/parallel/scatter_gather.py, ``scatter_kwargs``.
    """
    scattered_inputs = list(scatter(inputs, target_gpus, dim)) if inputs else []
    scattered_kwargs = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    count = max(len(scattered_inputs), len(scattered_kwargs))
    scattered_inputs += [() for _ in range(count - len(scattered_inputs))]
    scattered_kwargs += [{} for _ in range(count - len(scattered_kwargs))]
    return tuple(scattered_inputs), tuple(scattered_kwargs)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Return one result in place of one for each device: tensors are concatenated on ``target_device``.

    Args:
        outputs: a list with the result of each device. The results have one structure: a tensor, None, or a tuple,
            list, dict or namedtuple of those.
        target_device: the device of the result; may be the CPU.
        dim: the dimension of the batch.

    Raises:
        ValueError: dicts of different lengths.
        TypeError: a result is something else, such as a number.

    Mirrors torch/nn/parallel/scatter_gather.py, ``gather``.
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        return Gather.apply(target_device, dim, *outputs)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(each) for each in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([each[key] for each in outputs], target_device, dim)) for key in first)
    joined = (gather(items, target_device, dim) for items in zip(*outputs, strict=True))
    return type(first)._make(joined) if is_namedtuple(first) else type(first)(joined)
