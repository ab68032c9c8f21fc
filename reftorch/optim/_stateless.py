"""A step of an optimizer on other parameters and another state than its own.

Mirrors: torch/optim/_stateless.py
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Generator
from typing import Any

from reftorch._tensor import Tensor
from reftorch.optim.optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]

_NAME = "swap_in_optimizer_params_and_state"


def _check_state(state: Any) -> None:
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param "
            f"state dicts, got {type(state).__name__}."
        )
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(f"{_NAME} requires optimizer.state_dict()-style state keyed by packed parameter ids.")
    if any(isinstance(key, int) and not isinstance(value, dict) for key, value in state.items()):
        raise RuntimeError(f"{_NAME} requires per-parameter optimizer state entries to be dictionaries.")


def _check_groups(optimizer: Optimizer, groups: Any) -> None:
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['param_groups'] to be a list of param-group dicts, "
            f"got {type(groups).__name__}."
        )
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")


def _check_group(number: int, live: dict[str, Any], group: Any) -> None:
    if not isinstance(group, dict):
        raise RuntimeError(f"{_NAME} requires each optimizer param group to be a dictionary.")
    ids = group.get("params")
    if not isinstance(ids, list) or not all(isinstance(id_, int) for id_ in ids):
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param_groups[*]['params'] entries keyed by packed "
            "parameter ids."
        )
    if len(live["params"]) != len(ids):
        raise RuntimeError(
            f"swapin_optim_state param group {number} has a different number of params than the live optimizer "
            "param group."
        )
    swapin_only = [key for key in group if key not in live]
    live_only = [key for key in live if key not in group]
    if swapin_only or live_only:
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param group keys to exactly match the live optimizer "
            f"group keys for group {number}. Keys only in swap-in: {swapin_only}. Keys only in live: {live_only}."
        )


def _params_of_groups(
    optimizer: Optimizer, parameters: dict[str, Tensor], optim_state: Any
) -> list[tuple[dict[str, Any], dict[str, Any], list[Tensor]]]:
    """Check all arguments, and return for each group: the live group, the group to use, and the tensors to use."""
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    if not isinstance(optim_state, dict):
        raise RuntimeError(f"{_NAME} requires a DCP-style optimizer state_dict.")
    state, groups = optim_state.get("state"), optim_state.get("param_groups")
    _check_state(state)
    _check_groups(optimizer, groups)

    rest = list(parameters.values())
    found = []
    seen: set[int] = set()
    for number, (live, group) in enumerate(zip(optimizer.param_groups, groups, strict=True)):  # type: ignore[arg-type]
        _check_group(number, live, group)
        count = len(group["params"])
        if count > len(rest):
            raise RuntimeError(
                f"{_NAME} requires the explicit parameter state to match optimizer.param_groups ordering."
            )
        found.append((live, group, rest[:count]))
        rest = rest[count:]
        seen.update(group["params"])
    extra_keys = [key for key in state if key not in seen]  # type: ignore[union-attr]
    if extra_keys:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {extra_keys!r}."
        )
    return found


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Generator[None, None, None]:
    """Let an optimizer work on other parameters, options and states within a ``with`` block.

    After the block, the optimizer has its own parameters, options and states again. A step within the block changes
    the given tensors in place.

    Args:
        optimizer: an optimizer whose state exists, so usually one that has made a step.
        swapin_parameters: the tensors to use, in the order of the parameters in the groups; names are not compared.
        swapin_optim_state: options and states, as :meth:`Optimizer.state_dict` returns them.

    Raises:
        RuntimeError: the optimizer has no state yet, or the groups do not match those of the optimizer.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.9)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> other = torch.tensor([3.0])
        >>> other.grad = torch.tensor([2.0])
        >>> with torch.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
        ...     optimizer.step()
        >>> print(w.data, other)
        tensor([0.5000]) tensor([1.5500])

    Mirrors torch/optim/_stateless.py, ``swap_in_optimizer_params_and_state``.
    """
    swapped = _params_of_groups(optimizer, swapin_parameters, swapin_optim_state)
    own_state = optimizer.state
    own_groups = [dict(group) for group in optimizer.param_groups]
    try:
        state: defaultdict[Tensor, Any] = defaultdict(dict)
        for live, group, params in swapped:
            live.update({key: value for key, value in group.items() if key != "params"})
            live["params"] = params
            for param, id_ in zip(params, group["params"], strict=True):
                state[param] = dict(swapin_optim_state["state"].get(id_, {}))
        optimizer.state = state
        yield
    finally:
        for group, own in zip(optimizer.param_groups, own_groups, strict=True):
            group.clear()
            group.update(own)
        optimizer.state = own_state
