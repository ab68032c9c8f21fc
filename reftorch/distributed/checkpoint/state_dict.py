"""State dicts of models and optimizers by the names of the parameters, however the model lies on the ranks.

Mirrors: torch/distributed/checkpoint/state_dict.py
Leaves out: ``submodules``, which PyTorch has given up, names that a module changes itself (``dsd_fqn_modifiers``), flat
parameters, compiled modules.

Note [Names that any run can load]
Problem: a checkpoint shall be loaded by a run with another number of ranks, or with one process and no wrapper. But the
names of a model inside DistributedDataParallel begin with ``module.``, and an optimizer has numbers in place of names,
by the order in which it was given the parameters. Trick: names lose the prefix, and the state of an optimizer goes by
the names of its parameters. A run that loads makes an optimizer with the states that it will get, by one step with zero
gradients and a rate of zero, so that each value has a tensor to be read into. Limits: the names of two optimizers must
not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._state_dict_utils import (
    _broadcast_state_dict,
    _distribute_state_dict,
    _gather_state_dict,
    _map_tensors,
    _offload_state_dict_to_cpu,
)
from reftorch.nn.modules.module.state_dict import _IncompatibleKeys
from reftorch.nn.parallel import DistributedDataParallel

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """How state dicts are made and loaded.

    Args:
        full_state_dict: whether DTensors are put together to whole tensors, and cut again when they are loaded.
        cpu_offload: whether tensors are copied to the CPU. Together with ``full_state_dict``, only rank 0 gets a state
            dict, and all other ranks an empty one.
        ignore_frozen_params: whether parameters that require no gradient are left out.
        keep_submodule_prefixes: has no effect, because ``submodules`` is left out here.
        strict: whether each name of the model must be in the loaded state dict, and each name there in the model.
        broadcast_from_rank0: whether only rank 0 has the state dict that is loaded. Needs ``full_state_dict``.
        flatten_optimizer_state_dict: whether the state of an optimizer is one dict: ``state.layer.weight.step``.
        dsd_fqn_modifiers: only the default.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``StateDictOptions``.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _checked_options(options: StateDictOptions | None, submodules: Any = None) -> StateDictOptions:
    options = StateDictOptions() if options is None else options
    if submodules:
        raise NotImplementedError("submodules must be None. Hint: choose from the state dict by its names")
    if options.dsd_fqn_modifiers != "_fqn_modifiers":
        raise NotImplementedError("StateDictOptions: dsd_fqn_modifiers must be '_fqn_modifiers', its default")
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _fqn(model: Any, name: str) -> str:
    """Return the name that a parameter would have without DistributedDataParallel around its model."""
    words, module = [], model
    for word in name.split("."):
        if not isinstance(module, DistributedDataParallel):
            words.append(word)
        module = getattr(module, word, None)
    return ".".join(words)


def _finish(state_dict: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """Put DTensors together and copy tensors to the CPU, if the options say so."""
    if options.full_state_dict:
        ranks_only = (0,) if options.cpu_offload and c10d.is_initialized() else ()
        return _gather_state_dict(state_dict, cpu_offload=options.cpu_offload, ranks_only=ranks_only)
    return _offload_state_dict_to_cpu(state_dict) if options.cpu_offload else state_dict


# --- the model


@no_grad()
def _of_model(model: Any, options: StateDictOptions) -> dict[str, Any]:
    state = model.state_dict()
    for key in list(state):
        fqn = _fqn(model, key)
        if fqn != key:
            state[fqn] = state.pop(key)
    if options.ignore_frozen_params:
        for key, param in model.named_parameters():
            if not param.requires_grad:
                state.pop(_fqn(model, key))
    state = _finish(state, options)
    _check_not_empty("model", state, options, options.ignore_frozen_params)
    return state


def _check_not_empty(what: str, state: Any, options: StateDictOptions, may_be_empty: bool = False) -> None:
    """Raise an error if there is no state dict on a rank that needs one."""
    if state or may_be_empty or options.broadcast_from_rank0 or (options.cpu_offload and options.full_state_dict):
        return
    raise RuntimeError(
        f"The option indicates that {what} state_dict is required to save or load, but {what} state_dict is empty."
    )


@no_grad()
def _load_model(model: Any, state_dict: dict[str, Any], options: StateDictOptions) -> Any:
    if not state_dict and not options.broadcast_from_rank0:
        return _IncompatibleKeys([], [])
    own = dict(model.state_dict(keep_vars=True))
    names = {key: _fqn(model, key) for key in own}
    known = set(names.values())
    has_state = not options.broadcast_from_rank0 or c10d.get_rank() == 0
    if has_state and options.strict:
        missing = [fqn for key, fqn in names.items() if key != fqn and fqn not in state_dict]
        if missing:
            raise RuntimeError(f"Missing key: {missing[0]}.")
    state = {key: state_dict[fqn] for key, fqn in names.items() if fqn in state_dict}
    state |= {name: value for name, value in state_dict.items() if name not in known}  # load_state_dict names them
    assign = False
    if options.full_state_dict:
        device, assign = _device_of(own)
        if options.broadcast_from_rank0:
            state = _broadcast_state_dict(state, device)
            if options.strict:
                own = {key: value for key, value in own.items() if key in state}  # load_state_dict names the others
        state = _distribute_state_dict(state, own, device)
    return model.load_state_dict(state, strict=options.strict, assign=assign)


def _device_of(own: dict[str, Any]) -> tuple[Any, bool]:
    """Return the device of the model's tensors, and whether some are on the device meta, to be replaced."""
    devices = {value.device for value in own.values() if isinstance(value, Tensor) and value.dim() > 0}
    meta = _C.device("meta")
    assign = meta in devices
    devices.discard(meta)
    if len(devices) > 1:
        raise ValueError("Multiple devices found")
    return (devices.pop() if devices else _C.device("cpu")), assign


# --- the optimizers


@no_grad()
def _init_optim_state(optim: Any) -> None:
    """Make the state of an optimizer that has not made a step, by a step with zero gradients and a rate of zero.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``_init_optim_state``.
    """
    params = [p for group in optim.param_groups for p in group["params"]]
    if optim.state or any(p.grad is not None for p in params):
        return
    for p in params:
        if p.requires_grad:
            p.grad = _VF.zeros_like(p)
    rates = [group.get("lr") for group in optim.param_groups]
    for group, rate in zip(optim.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = _C.tensor(0.0) if isinstance(rate, Tensor) else 0.0
    optim.step(closure=None)
    for group, rate in zip(optim.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = rate
    optim.zero_grad(set_to_none=True)


def _names_of_params(model: Any) -> dict[Any, list[str]]:
    """Return the names of each parameter; a shared one has several."""
    names: dict[Any, list[str]] = {}
    for key, param in model.named_parameters(remove_duplicate=False):
        names.setdefault(param, []).append(_fqn(model, key))
    return names


@no_grad()
def _of_optimizers(model: Any, optimizers: tuple[Any, ...], options: StateDictOptions) -> dict[str, Any]:
    names = {param: _fqn(model, key) for key, param in model.named_parameters()}
    joined: dict[str, Any] = {"state": {}, "param_groups": []}
    for optim in optimizers:
        _init_optim_state(optim)
        found = optim.state_dict()
        fqns = [names[p] for group in optim.param_groups for p in group["params"]]
        joined["state"].update({fqns[number]: state for number, state in found["state"].items()})
        for group in found["param_groups"]:
            joined["param_groups"].append({**group, "params": [fqns[number] for number in group["params"]]})
    if options.flatten_optimizer_state_dict:
        joined = _flatten(joined)
    state = _finish(joined, options)
    _check_not_empty("optimizer", state, options)
    return state


def _flatten(state_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a dict without dicts in it: ``state.layer.weight.step`` and ``param_groups.layer.weight.lr``."""
    flat: dict[str, Any] = {}

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                add(f"{prefix}.{key}", each)
        elif isinstance(value, (Tensor, int, float)):
            flat[prefix] = value
        else:
            raise NotImplementedError(
                "Flattening optimizer state_dict only supports tensor, int, float, dict states now. "
                f"Type is {type(value)}."
            )

    for fqn, state in state_dict["state"].items():
        add(f"state.{fqn}", state)
    for group in state_dict["param_groups"]:
        for fqn in group["params"]:
            flat |= {f"param_groups.{fqn}.{key}": value for key, value in group.items() if key != "params"}
    return flat


def _nested(flat: dict[str, Any], prefix: str) -> Any:
    """Return the value with a name, or the dict of the values whose names begin with the name and a dot."""
    if prefix in flat:
        return flat[prefix]
    found: dict[str, Any] = {}
    for key, value in flat.items():
        if key.startswith(f"{prefix}."):
            *inner, last = key[len(prefix) + 1 :].split(".")
            place = found
            for word in inner:
                place = place.setdefault(word, {})
            place[last] = value
    return found


def _unflatten(optim: Any, flat: dict[str, Any], names: dict[Any, list[str]]) -> dict[str, Any]:
    """Return the part of a flat state dict that an optimizer needs, as nested dicts."""
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for group in optim.param_groups:
        keys = [key for key in group if key != "params"]
        fqns = [
            (p, fqn)
            for p in group["params"]
            for fqn in names[p]
            if len(names[p]) == 1 or any(f"param_groups.{fqn}.{key}" in flat for key in keys)
        ]
        state |= {
            fqn: {name: _nested(flat, f"state.{fqn}.{name}") for name in optim.state[p]}
            for p, fqn in fqns
            if p.requires_grad
        }
        first = f"param_groups.{fqns[0][1]}" if fqns else ""
        groups.append({"params": [fqn for _, fqn in fqns], **{key: flat[f"{first}.{key}"] for key in keys if fqns}})
    return {"state": state, "param_groups": groups}


def _split(optim: Any, state_dict: dict[str, Any], names: dict[Any, list[str]], strict: bool) -> dict[str, Any]:
    """Return the part of a state dict that belongs to an optimizer, in the order of its parameters."""
    saved = state_dict["state"]
    if all(isinstance(key, int) for key in saved):
        return state_dict
    of_fqn = {fqn: group for group in state_dict["param_groups"] for fqn in group["params"]}
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for group in optim.param_groups:
        fqns = [(p, fqn) for p in group["params"] for fqn in names[p] if len(names[p]) == 1 or fqn in of_fqn]
        for p, fqn in fqns:
            if p.requires_grad and fqn in saved:
                state[fqn] = saved[fqn]
            elif p.requires_grad and strict:
                raise RuntimeError(
                    f"Missing optimizer state for parameter '{fqn}' in checkpoint. The parameter requires gradients "
                    "but has no saved optimizer state. To load anyway, use StateDictOptions(strict=False)."
                )
        options: dict[str, Any] = {}
        if not fqns:  # a group without parameters has no names to find it by
            options |= next((each for each in state_dict["param_groups"] if not each["params"]), {})
        for _, fqn in fqns:
            options |= of_fqn.get(fqn, {})
        groups.append({**options, "params": [fqn for _, fqn in fqns]})
    return {"state": state, "param_groups": groups}


@no_grad()
def _load_optimizers(
    model: Any, optimizers: tuple[Any, ...], state_dict: dict[str, Any], options: StateDictOptions
) -> None:
    names = _names_of_params(model)
    for optim in optimizers:
        _init_optim_state(optim)
        found: dict[str, Any] = {}
        if state_dict:
            nested = "state" in state_dict
            found = _split(optim, state_dict, names, options.strict) if nested else _unflatten(optim, state_dict, names)
        if options.full_state_dict:
            local = _of_optimizers(model, (optim,), StateDictOptions())
            device, _ = _device_of(dict(enumerate(_tensors(local["state"]))))  # type: ignore[arg-type]
            if options.broadcast_from_rank0:
                found = _broadcast_state_dict(found, device)
            found = _distribute_state_dict(found, local, device)
        optim.load_state_dict(found)


def _tensors(tree: Any) -> Iterator[Tensor]:
    found: list[Tensor] = []
    _map_tensors(found.append, tree)
    yield from found


def _as_tuple(optimizers: Any) -> tuple[Any, ...]:
    return tuple(optimizers) if isinstance(optimizers, Iterable) else (optimizers,)


# --- what programs call


def get_model_state_dict(
    model: Any, *, submodules: set[Any] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """Return the state dict of a model, with the names that it has without DistributedDataParallel.

    Args:
        model: the model, perhaps inside DistributedDataParallel or after ``fully_shard``.
        submodules: only None.
        options: see :class:`StateDictOptions`.

    Example:
        >>> from reftorch.distributed.checkpoint.state_dict import get_model_state_dict
        >>> list(get_model_state_dict(torch.nn.Linear(2, 1)))
        ['weight', 'bias']

    Mirrors torch/distributed/checkpoint/state_dict.py, ``get_model_state_dict``.
    """
    return _of_model(model, _checked_options(options, submodules))


def get_optimizer_state_dict(
    model: Any, optimizers: Any, *, submodules: set[Any] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """Return the states of optimizers as one state dict, by the names of the parameters.

    An optimizer that has made no step gets its first state by this call. See Note [Names that any run can load].

    Args:
        model: the model, which knows the names.
        optimizers: one optimizer, or several.
        submodules: only None.
        options: see :class:`StateDictOptions`.

    Raises:
        RuntimeError: there is no optimizer.

    Example:
        >>> from reftorch.distributed.checkpoint.state_dict import get_optimizer_state_dict
        >>> layer = torch.nn.Linear(2, 1)
        >>> found = get_optimizer_state_dict(layer, torch.optim.Adam(layer.parameters()))
        >>> list(found["state"]), list(found["state"]["bias"]), found["param_groups"][0]["params"]
        (['weight', 'bias'], ['step', 'exp_avg', 'exp_avg_sq'], ['weight', 'bias'])

    Mirrors torch/distributed/checkpoint/state_dict.py, ``get_optimizer_state_dict``.
    """
    return _of_optimizers(model, _at_least_one(optimizers), _checked_options(options, submodules))


def _at_least_one(optimizers: Any) -> tuple[Any, ...]:
    found = _as_tuple(optimizers)
    if not found:
        raise RuntimeError("Optimizers are not passed in but optim_only is set to True.")
    return found


def get_state_dict(
    model: Any, optimizers: Any, *, submodules: set[Any] | None = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the state dicts of a model and of its optimizers. See the two functions above.

    Args:
        model: the model.
        optimizers: one optimizer, or several. For none of them the second dict is empty.
        submodules: only None.
        options: see :class:`StateDictOptions`.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``get_state_dict``.
    """
    checked, given = _checked_options(options, submodules), _as_tuple(optimizers)
    return _of_model(model, checked), _of_optimizers(model, given, checked) if given else {}


def set_model_state_dict(
    model: Any, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load a state dict that :func:`get_model_state_dict` has made, perhaps with another number of ranks.

    Args:
        model: the model.
        model_state_dict: the state dict; it stays as it is.
        options: see :class:`StateDictOptions`.

    Returns:
        The names that were missing and those that the model does not know, as from ``load_state_dict``.

    Raises:
        RuntimeError: names are missing or unknown, and ``strict`` is not False; or the state dict is empty.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``set_model_state_dict``.
    """
    checked = _checked_options(options)
    _check_not_empty("model", model_state_dict, checked, checked.ignore_frozen_params or not checked.strict)
    return _load_model(model, model_state_dict, checked)


def set_optimizer_state_dict(
    model: Any, optimizers: Any, optim_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> None:
    """Load a state dict that :func:`get_optimizer_state_dict` has made. Call this before backward or after a step.

    Args:
        model: the model, which knows the names.
        optimizers: one optimizer, or several; each takes the part for its parameters.
        optim_state_dict: the state dict, nested or flat.
        options: see :class:`StateDictOptions`.

    Raises:
        RuntimeError: the state of a parameter is missing, or the state dict is empty.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``set_optimizer_state_dict``.
    """
    checked, given = _checked_options(options), _at_least_one(optimizers)
    _check_not_empty("optimizer", optim_state_dict, checked)
    _load_optimizers(model, given, optim_state_dict, checked)


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load the state dicts of a model and of its optimizers. See the two functions above.

    Args:
        model: the model.
        optimizers: one optimizer, or several.
        model_state_dict: the state dict of the model; an empty one leaves the model as it is.
        optim_state_dict: the state dict of the optimizers.
        options: see :class:`StateDictOptions`.

    Returns:
        What :func:`set_model_state_dict` returns.

    Mirrors torch/distributed/checkpoint/state_dict.py, ``set_state_dict``.
    """
    checked, given = _checked_options(options), _as_tuple(optimizers)
    if given:
        _check_not_empty("optimizer", optim_state_dict, checked)
        _load_optimizers(model, given, optim_state_dict, checked)
    return _load_model(model, model_state_dict, checked)
