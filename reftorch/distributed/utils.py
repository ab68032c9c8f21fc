"""What the wrappers of modules share: equal parameters and buffers on all ranks, and inputs of another dtype or device.

Mirrors: torch/distributed/utils.py
Leaves out: storage of parameters, packing of arguments, copies on side streams.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from reftorch._tensor import Tensor
from reftorch.distributed._reducer import _broadcast_coalesced, _verify_params_across_processes

__all__: list[str] = []


def _cast_forward_inputs(dtype: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Return arguments whose floating tensors, also those in tuples, lists, dicts and dataclasses, have a dtype.

    Args:
        dtype: the dtype; None leaves all arguments as they are.
        args: arguments by place.
        kwargs: arguments by name.

    Mirrors torch/distributed/utils.py, ``_cast_forward_inputs``.
    """
    return (args, kwargs) if dtype is None else _cast((args, kwargs), dtype)


def _cast(obj: Any, dtype: Any) -> Any:
    if isinstance(obj, Tensor):
        return obj.to(dtype) if obj.is_floating_point() else obj
    if _is_namedtuple(obj):
        return type(obj)(*(_cast(each, dtype) for each in obj))
    if isinstance(obj, (tuple, list)):
        return type(obj)(_cast(each, dtype) for each in obj)
    if isinstance(obj, dict):
        return type(obj)((key, _cast(each, dtype)) for key, each in obj.items())
    if is_dataclass(obj) and not isinstance(obj, type):
        return replace(obj, **{f.name: _cast(getattr(obj, f.name), dtype) for f in fields(obj) if f.init})
    return obj


def _is_namedtuple(obj: Any) -> bool:
    return isinstance(obj, tuple) and hasattr(obj, "_fields")


def _recursive_to(obj: Any, device: Any) -> Any:
    """Return a copy of a structure of tuples, lists and dicts, with all tensors on a device.

    Args:
        obj: the structure, or a single tensor.
        device: the device.

    Mirrors torch/distributed/utils.py, ``_recursive_to``.
    """
    if isinstance(obj, Tensor) or (_is_namedtuple(obj) and hasattr(obj, "to")):  # the second: a PackedSequence
        return obj.to(device)
    if _is_namedtuple(obj):
        return type(obj)(*(_recursive_to(each, device) for each in obj))
    if isinstance(obj, (tuple, list)):
        return type(obj)(_recursive_to(each, device) for each in obj)
    if isinstance(obj, dict):
        return type(obj)((key, _recursive_to(each, device)) for key, each in obj.items())
    return obj


def _verify_param_shape_across_processes(process_group: Any, tensors: Sequence[Any], logger: Any = None) -> None:
    """Check that all ranks have the same parameters, in one order.

    Args:
        process_group: the ranks.
        tensors: the parameters.
        logger: a Logger that notes the error.

    Raises:
        RuntimeError: (on all ranks) a number, shape, stride or dtype differs from that of rank 0.

    Mirrors torch/distributed/utils.py, ``_verify_param_shape_across_processes``.
    """
    try:
        _verify_params_across_processes(process_group, {f"params[{i}]": p for i, p in enumerate(tensors)})
    except RuntimeError as error:
        if logger is not None:
            logger.set_error_and_log(str(error))
        raise


def _sync_module_states(
    module: Any,
    process_group: Any,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Container[str],
    broadcast_buffers: bool = True,
) -> None:
    """Give all ranks the parameters and buffers of one rank.

    Args:
        module: the module; its parameters have the same shapes on all ranks.
        process_group: the ranks.
        broadcast_bucket_size: the most bytes of a message, unless one tensor alone is larger.
        src: the rank in the group.
        params_and_buffers_to_ignore: the names of those that stay as they are.
        broadcast_buffers: whether buffers are sent, too.

    Mirrors torch/distributed/utils.py, ``_sync_module_states``.
    """
    named = list(module.named_parameters()) + (list(module.named_buffers()) if broadcast_buffers else [])
    tensors = [tensor.detach() for name, tensor in named if name not in params_and_buffers_to_ignore]
    _broadcast_coalesced(process_group, tensors, broadcast_bucket_size, src)
