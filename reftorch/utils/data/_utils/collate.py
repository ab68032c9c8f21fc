"""Collation: a list of samples becomes a batch.

Mirrors: torch/utils/data/_utils/collate.py

This file never imports numpy: a program with numpy samples has imported numpy, and the types show that.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.functional import as_tensor
from reftorch.storage import UntypedStorage
from reftorch.utils.data._utils.worker import get_worker_info

__all__ = ["collate", "default_collate", "default_convert"]

_NUMPY_STRING_OR_OBJECT = re.compile(r"[SaUO]")


def _is_numpy(data: Any, *names: str) -> bool:
    """Return whether the type of ``data`` is one of the named types of numpy, or derives from one."""
    return any(cls.__module__ == "numpy" and cls.__name__ in names for cls in type(data).__mro__)


class _NumpyMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return _is_numpy(instance, "ndarray", "bool", "bool_", "number", "object_")


class _NumpyData(metaclass=_NumpyMeta):
    """Stands for the numpy types that become tensors."""


def _not_collatable(kind: Any, hint: str = "") -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}{hint}"
    )


def _like_mapping(elem: Mapping, values: dict) -> Any:
    """Put the values into a mapping of the type of ``elem``, or into a dict if that type cannot be filled."""
    try:
        if isinstance(elem, MutableMapping):
            clone = copy.copy(elem)  # copied, because the constructor may need more than the values
            clone.update(values)
            return clone
        return type(elem)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _like_sequence(elem: Sequence, values: list) -> Any:
    """Put the values into a sequence of the type of ``elem``, or into a list if that type cannot be built."""
    try:
        if isinstance(elem, MutableSequence):
            clone = copy.copy(elem)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return type(elem)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def default_convert(data: Any) -> Any:
    """Turn numpy arrays and scalars into tensors, also inside dicts, tuples and lists; leave other values unchanged.

    A tuple becomes a list; a named tuple keeps its type.

    Args:
        data: one sample.

    Example:
        >>> import numpy as np
        >>> from reftorch.utils.data import default_convert
        >>> default_convert({"x": np.array([0, 1]), "y": "text"})
        {'x': tensor([0, 1]), 'y': 'text'}

    Mirrors torch/utils/data/_utils/collate.py, ``default_convert``.
    """
    if isinstance(data, Tensor):
        return data
    if _is_numpy(data, "ndarray", "generic") and type(data).__name__ not in ("str_", "bytes_"):
        if _is_numpy(data, "ndarray") and _NUMPY_STRING_OR_OBJECT.search(data.dtype.str):
            return data
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        values = [default_convert(value) for value in data]
        return type(data)(*values) if hasattr(data, "_fields") else values
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data


def collate(batch: Sequence, *, collate_fn_map: dict[type | tuple[type, ...], Callable] | None = None) -> Any:
    """Make a batch from samples. The leaves of dicts, tuples and lists become batches.

    Args:
        batch: the samples, which all have the same structure.
        collate_fn_map: functions ``fn(batch, *, collate_fn_map)`` for the types of leaves; the exact type takes
            precedence over a base class.

    Raises:
        RuntimeError: sequences differ in length.
        TypeError: there is no function for the type of a leaf.

    Example:
        >>> from reftorch.utils.data._utils.collate import collate
        >>> collate([{"k": "a"}, {"k": "b"}], collate_fn_map={str: lambda batch, collate_fn_map: "".join(batch)})
        {'k': 'ab'}

    Mirrors torch/utils/data/_utils/collate.py, ``collate``.
    """
    elem = batch[0]
    functions = collate_fn_map or {}
    if type(elem) in functions:
        return functions[type(elem)](batch, collate_fn_map=collate_fn_map)
    for cls, function in functions.items():
        if isinstance(elem, cls):
            return function(batch, collate_fn_map=collate_fn_map)

    if isinstance(elem, Mapping):
        values = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in elem}
        return _like_mapping(elem, values)
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return type(elem)(*(collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch, strict=True)))
    if isinstance(elem, Sequence):
        if len(set(map(len, batch))) > 1:
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch, strict=True)]
        return columns if isinstance(elem, tuple) else _like_sequence(elem, columns)
    raise _not_collatable(type(elem), _C._other_library_hint(elem))


def _collate_tensor(batch: Sequence[Tensor], *, collate_fn_map: Any = None) -> Tensor:
    if get_worker_info() is None:
        return _VF.stack(batch, 0)
    first = batch[0]
    plain = first.device.type == "cpu" and not any(x.requires_grad or x.dtype != first.dtype for x in batch)
    if not plain or first.numel() == 0:
        return _VF.stack(batch, 0)
    # In a worker the batch is computed where it will be shared, which saves a copy.
    memory = UntypedStorage._new_shared(len(batch) * first.numel() * first.element_size())
    return _VF.stack(batch, 0, out=memory._storage.tensor(first.dtype).view(len(batch), *first.shape))


def _collate_numpy(batch: Sequence, *, collate_fn_map: Any = None) -> Tensor:
    import numpy as np

    if get_worker_info() is not None and isinstance(batch[0], np.ndarray) and batch[0].dtype.kind in "biuf":
        return _collate_tensor([as_tensor(sample) for sample in batch])
    array = np.asarray(batch)
    if _NUMPY_STRING_OR_OBJECT.search(array.dtype.str):
        raise _not_collatable(array.dtype)
    return as_tensor(array)


def _collate_float(batch: Sequence[float], *, collate_fn_map: Any = None) -> Tensor:
    return _C.tensor(batch, dtype=_C.float64)


def _collate_int(batch: Sequence[int], *, collate_fn_map: Any = None) -> Tensor:
    return _C.tensor(batch)


def _collate_str(batch: Sequence, *, collate_fn_map: Any = None) -> Sequence:
    return batch


default_collate_fn_map: dict[type | tuple[type, ...], Callable] = {
    Tensor: _collate_tensor,
    _NumpyData: _collate_numpy,  # before float, because numpy.float64 is a subclass of float
    float: _collate_float,
    int: _collate_int,
    str: _collate_str,
    bytes: _collate_str,
}


def default_collate(batch: Sequence) -> Any:
    """Make a batch from samples: tensors, arrays and numbers are stacked along a new first dimension.

    Tensors of shape :math:`(*)` become one of shape :math:`(N, *)`, Python floats a float64 tensor, ints an int64
    tensor. Strings stay a list. The same is done inside dicts, named tuples, tuples (which become lists) and lists.

    Args:
        batch: N samples of the same structure.

    Raises:
        RuntimeError: sequences or tensors differ in size.
        TypeError: the type of a leaf is none of these.

    Example:
        >>> from reftorch.utils.data import default_collate
        >>> default_collate([{"x": 1.5, "y": [0, 1]}, {"x": 2.5, "y": [2, 3]}])
        {'x': tensor([1.5000, 2.5000], dtype=torch.float64), 'y': [tensor([0, 2]), tensor([1, 3])]}

    Mirrors torch/utils/data/_utils/collate.py, ``default_collate``.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
