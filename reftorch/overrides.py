"""The functions that a class can override by ``__torch_function__``, and tools for classes that do.

Mirrors: torch/overrides.py
Leaves out: reentrant dispatch. PyTorch lists the signatures for tests; here they are read from the functions.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import reftorch
from reftorch import _C, _places
from reftorch._places import in_torch, is_ours
from reftorch._torch_function import (  # noqa: F401
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
    is_tensor_like,
    wrap_torch_function,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

# Functions of torch that take no tensor, or whose result must not depend on a class.
_IGNORED_FUNCTIONS = """
    typename is_tensor is_storage set_default_dtype get_default_dtype set_default_device get_default_device
    get_device_module is_warn_always_enabled set_warn_always get_num_threads set_num_threads
    set_rng_state get_rng_state manual_seed initial_seed seed is_grad_enabled set_printoptions
    promote_types can_cast broadcast_shapes tensor as_tensor from_numpy frombuffer
    asarray from_dlpack from_file
    no_grad enable_grad set_grad_enabled inference_mode is_inference_mode_enabled vmap compile
    save load arange bartlett_window blackman_window empty empty_permuted empty_strided eye full hamming_window
    hann_window kaiser_window linspace logspace ones rand randint randn randperm range scalar_tensor zeros
    tril_indices triu_indices normal to_dlpack
    set_default_tensor_type is_anomaly_enabled is_anomaly_check_nan_enabled set_anomaly_enabled
    are_deterministic_algorithms_enabled get_deterministic_debug_mode get_float32_matmul_precision
    is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode set_float32_matmul_precision
    use_deterministic_algorithms
    is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype is_autocast_cache_enabled
    set_autocast_cache_enabled clear_autocast_cache autocast_increment_nesting autocast_decrement_nesting
    get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled set_autocast_cpu_dtype
    set_autocast_cpu_enabled set_autocast_gpu_dtype
"""
_IGNORED_METHODS = """
    __delitem__ __dir__ __getattribute__ __init__ __init_subclass__ __iter__ __new__ __class__ __hash__
    __subclasshook__ __torch_function__ __torch_dispatch__ __reduce__ __reduce_ex__ __setstate__ __array_priority__
    as_subclass _make_subclass __getstate__ __dict__ __weakref__ __module__ __doc__ __div__ __idiv__ __array_wrap__ new
    new_tensor
"""


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the public functions that no class can override.

    Example:
        >>> torch.tensor in torch.overrides.get_ignored_functions()
        True

    Mirrors torch/overrides.py, ``get_ignored_functions``.
    """
    found = {getattr(reftorch, name) for name in _IGNORED_FUNCTIONS.split() if hasattr(reftorch, name)}
    found.add(reftorch.nn.init.calculate_gain)
    found |= {reftorch.nn.functional.sigmoid, reftorch.nn.functional.tanh}  # they call the method, which is overridable
    return found | {
        value for name in _IGNORED_METHODS.split() if callable(value := getattr(reftorch.Tensor, name, None))
    }


@functools.cache
def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Return the functions whose results the default ``__torch_function__`` does not convert to the subclass.

    Mirrors torch/overrides.py, ``get_default_nowrap_functions``.
    """
    return reftorch._tensor._nowrap_functions()


def _namespaces() -> list[tuple[str, Any, list[str]]]:
    of = [
        ("torch", reftorch),
        ("torch.functional", reftorch.functional),
        ("torch.nn.functional", reftorch.nn.functional),
        ("torch.nn.init", reftorch.nn.init),
        ("torch.Tensor", reftorch.Tensor),
        ("torch.linalg", reftorch.linalg),
        ("torch.special", reftorch.special),
    ]
    return [(name, namespace, dir(namespace)) for name, namespace in of]


_NOT_PUBLIC = ("torch._C", "torch._torch_function", "torch._warnings")  # other modules import from these
_NO_FUNCTIONS = ("__weakref__", "__dict__", "__class__", "__del__")


def _is_inherited_from_object(name: str, value: Any) -> bool:
    return getattr(object, name, None) is value


@functools.cache
def _get_overridable_functions() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Any, str]]:
    overridable: dict[Any, list[Callable[..., Any]]] = {}
    names: dict[Any, str] = {}
    ignored = get_ignored_functions()
    for space_name, namespace, members in _namespaces():
        of_tensor = namespace is reftorch.Tensor
        for name in members:
            value = inspect.getattr_static(namespace, name) if of_tensor else getattr(namespace, name)
            if isinstance(value, (type, types.ModuleType)) or name in _NO_FUNCTIONS:
                continue
            if of_tensor and name.startswith("_") and not name.startswith("__"):
                names[getattr(namespace, name)] = f"{space_name}.{name}"
                continue
            if of_tensor and isinstance(value, (property, types.GetSetDescriptorType)):
                names[value.__get__] = f"{space_name}.{name}.__get__"
                names[value.__set__] = f"{space_name}.{name}.__set__"
                overridable.setdefault(value, []).append(value.__get__)
                continue
            value = getattr(namespace, name)
            if not callable(value) or (of_tensor and _is_inherited_from_object(name, value)):
                continue
            if not of_tensor and name.startswith("__"):
                continue
            names.setdefault(value, f"{space_name}.{name}")
            private = not of_tensor and (name.startswith("_") or name.endswith("_") or not name[0].islower())
            if not private and value not in ignored and (of_tensor or _is_ours(value)):
                overridable.setdefault(namespace, []).append(value)
    return overridable, names


def _is_ours(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    of_binding = isinstance(value, types.BuiltinFunctionType)  # functions that are no ops, such as set_num_threads
    return is_ours(module) and not of_binding and in_torch(module, "")[0] not in _NOT_PUBLIC


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that a class can override, by namespace.

    Example:
        >>> torch.add in torch.overrides.get_overridable_functions()[torch]
        True

    Mirrors torch/overrides.py, ``get_overridable_functions``.
    """
    return _get_overridable_functions()[0]


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return, for each overridable function, a function with its signature that returns -1.

    Example:
        >>> import inspect
        >>> override = torch.overrides.get_testing_overrides()[torch.relu]
        >>> override(torch.ones(1)), str(inspect.signature(override))
        (-1, '(input)')

    Mirrors torch/overrides.py, ``get_testing_overrides``.
    """
    found: dict[Callable[..., Any], Callable[..., Any]] = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            found[function] = _override_for(function)
    return found


def _override_for(function: Callable[..., Any]) -> Callable[..., Any]:
    def override(*args: Any, **kwargs: Any) -> int:
        return -1

    try:
        if hasattr(function, "signatures"):  # an op: its first overload is used
            needed = [p for p in function.signatures()[0]["parameters"] if not p["has_default"]]
            kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
            signature = inspect.Signature([inspect.Parameter(p["name"], kinds[p["kwarg_only"]]) for p in needed])
        else:
            signature = inspect.signature(function)
    except (TypeError, ValueError):  # __get__ of a property in C
        signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    override.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
    return override


def resolve_name(f: Callable[..., Any]) -> str | None:
    """Return the name of a function that ``__torch_function__`` received, or None if it is unknown.

    Example:
        >>> torch.overrides.resolve_name(torch.Tensor.add), torch.overrides.resolve_name(torch.add)
        ('torch.Tensor.add', 'torch.add')

    Mirrors torch/overrides.py, ``resolve_name``.
    """
    return _get_overridable_functions()[1].get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether a function that ``__torch_function__`` received is a method of Tensor or a property's ``__get__``.

    Example:
        >>> is_method = torch.overrides.is_tensor_method_or_property
        >>> is_method(torch.Tensor.add), is_method(torch.Tensor.shape.__get__), is_method(torch.add)
        (True, True, False)

    Mirrors torch/overrides.py, ``is_tensor_method_or_property``.
    """
    return func in _tensor_methods() or func.__name__ == "__get__"


@functools.cache
def _tensor_methods() -> set[Callable[..., Any]]:
    return set(get_overridable_functions()[reftorch.Tensor])


def redispatch_function(
    func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Call ``func`` without checking its arguments for overrides; the functions that ``func`` calls do check theirs.

    Mirrors torch/overrides.py, ``redispatch_function``.
    """
    inner = getattr(func, "__wrapped__", None)
    if inner is not None:  # a Python function: call it without the wrapper that checks
        return inner(*args, **(kwargs or {}))
    with _C.DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


_enable_torch_function = _C._EnableTorchFunction
DisableTorchFunctionSubclass = _C.DisableTorchFunctionSubclass
_places.adopt(__name__, __all__, globals())
