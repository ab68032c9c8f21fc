"""What the wrappers of modules share: the same parameters and buffers on all ranks.

Mirrors: torch/distributed/utils.py
Leaves out: casts of inputs, storage of parameters, packing of arguments; copies of inputs to a device are in
``nn/parallel/distributed.py``.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from reftorch.distributed._reducer import _broadcast_coalesced, _verify_params_across_processes

__all__: list[str] = []


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
