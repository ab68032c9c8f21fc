"""Calls of a module with other parameters than its own, and the parameters of several modules as one batch.

Mirrors: torch/_functorch/functional_call.py, torch/nn/utils/stateless.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF

if TYPE_CHECKING:
    from reftorch import Tensor
    from reftorch.nn import Module

__all__ = ["functional_call", "stack_module_state"]


def _named_tensors(module: Module) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _with_tied_names(module: Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """Replace a tensor that the module has under several names under all of these names."""
    names: dict[int, set[str]] = {}
    for name, tensor in _named_tensors(module).items():
        names.setdefault(id(tensor), set()).add(name)
    complete = dict(given)
    for tied in names.values():
        values = {id(given[name]): given[name] for name in tied if name in given}
        if len(tied) > 1 and len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for value in values.values():
            complete.update(dict.fromkeys(tied, value))
    return complete


def _check_names(module: Module, given: dict[str, Tensor]) -> None:
    known = _named_tensors(module).keys()
    unexpected, missing = sorted(given.keys() - known), sorted(known - given.keys())
    found = []
    if unexpected:
        found.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        found.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if found:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(found))


_MISSING = object()


def _owner(module: Module, path: list[str]) -> Any:
    for name in path:
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        module = getattr(module, name)
    return module


def _check_tensor(value: Any, what: str = "") -> None:
    if value is not _MISSING and value is not None and not isinstance(value, _C.TensorBase):
        raise TypeError(f"{what}{value} is not an instance of torch.Tensor{_C._other_library_hint(value)}")


def _swap(module: Module, name: str, value: Any) -> Any:
    """Put a tensor into the module without checks, or remove the name; return the former value, if there was one."""
    *path, last = name.split(".")
    owner = _owner(module, path)
    _check_tensor(value)
    for store in (owner._parameters, owner._buffers):
        if last in store:
            former = store.pop(last) if value is _MISSING else store[last]
            if value is not _MISSING:
                store[last] = value
            return former
    former = getattr(owner, last, _MISSING)
    _check_tensor(former, f"attribute `{last}`: ")
    if value is not _MISSING:
        setattr(owner, last, value)
    elif former is not _MISSING:
        delattr(owner, last)
    return former


@contextmanager
def _replaced(module: Module, values: dict[str, Tensor], given: dict[str, Tensor]) -> Iterator[None]:
    """Give the module other tensors inside the block; afterwards ``given`` holds what the module assigned meanwhile."""
    former: dict[str, Any] = {}
    try:
        for name, value in values.items():
            former[name] = _swap(module, name, value)
        yield
    finally:
        latter = {name: _swap(module, name, value) for name, value in former.items()}
        given.update({name: value for name, value in latter.items() if name in given})


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors in place of its parameters and buffers.

    In this way a module becomes a function of its parameters, to which transforms can be applied.

    Args:
        module: the module to call; it is unchanged afterwards.
        parameter_and_buffer_dicts: a dict from names to tensors, or several such dicts; a name may be that of any
            attribute. A tensor that the module assigns to a name replaces the entry in the dict.
        args: the positional arguments: a tuple, or a single argument.
        kwargs: the keyword arguments.
        tie_weights: whether to replace a parameter with several names under all of them.
        strict: raise an error unless exactly the module's parameters and buffers are given.

    Returns:
        The output of the module.

    Raises:
        RuntimeError: ``strict`` is set, and names are missing or unexpected.
        ValueError: a name is given twice, or tied names get different tensors.
        AttributeError: a name leads to no module.
        TypeError: a given value, or the value that it replaces, is not a tensor.

    Example:
        >>> layer = torch.nn.Linear(2, 1)
        >>> parameters = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
        >>> torch.func.functional_call(layer, parameters, torch.tensor([1.0, 2.0]))
        tensor([3.])

    Mirrors torch/_functorch/functional_call.py, ``functional_call``.
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif not isinstance(parameter_and_buffer_dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    else:
        dicts = parameter_and_buffer_dicts
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for d in dicts for name in d]
        repeated = list(dict.fromkeys(name for name in names if names.count(name) > 1))
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {name: value for d in dicts for name, value in d.items()}
    values = _with_tied_names(module, given) if tie_weights else given
    if strict:
        _check_names(module, values)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, values, given):
        return module(*arguments, **(kwargs or {}))


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters, and the buffers, of modules of one class: an ensemble for :func:`vmap`.

    Args:
        models: modules of the same class, all in training mode or none.

    Returns:
        Two dicts by name; a stacked parameter requires a gradient if those of the models do.

    Raises:
        RuntimeError: there are no models, or their classes or modes differ.

    Example:
        >>> models = [torch.nn.Linear(2, 3) for _ in range(4)]
        >>> parameters, buffers = torch.func.stack_module_state(models)
        >>> parameters["weight"].shape
        torch.Size([4, 3, 2])

    Mirrors torch/_functorch/functional_call.py, ``stack_module_state``.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: _stacked(name, [dict(model.named_parameters())[name] for model in models])
        for name, _ in models[0].named_parameters()
    }
    buffers = {
        name: _stacked(name, [dict(model.named_buffers())[name] for model in models])
        for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


def _stacked(name: str, tensors: list[Any]) -> Any:
    if len({t.requires_grad for t in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return _VF.stack(tensors).detach().requires_grad_(tensors[0].requires_grad)
