"""The signatures of ops and modules, and the arguments of a call as a signature names them.

Mirrors: torch/fx/operator_schemas.py
Leaves out: functions of TorchScript; types of schemas that do not exist here.
"""

from __future__ import annotations

import inspect
import numbers
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import reftorch
from reftorch import _C, _warnings
from reftorch._ops import FunctionSchema, OpOverload, OpOverloadPacket
from reftorch._tensor import Tensor
from reftorch._utils import typename

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call.

    Mirrors torch/fx/operator_schemas.py, ``ArgsKwargsPair``.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_TYPES: dict[str, Any] = {
    "Tensor": Tensor,
    "int": int,
    "SymInt": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Scalar": numbers.Number,
    "number": numbers.Number,
    "Device": reftorch.device,
    "ScalarType": int,  # PyTorch's schemas have dtypes, layouts and memory formats as numbers
    "Layout": int,
    "MemoryFormat": int,
    "Generator": reftorch.Generator,
}


def _python_type(text: str) -> Any:
    """Return the Python type of a type of a schema, such as ``Tensor(a!)?`` or ``int[2]``."""
    text = text.strip()
    if text.endswith("?"):
        return typing.Optional[_python_type(text[:-1])]  # noqa: UP045
    if text.endswith("]"):
        return list[_python_type(text[: text.rindex("[")])]  # type: ignore[misc]
    return _TYPES.get(text.partition("(")[0], Any)


def _schema_to_signature(schema: FunctionSchema) -> inspect.Signature:
    parameters: list[inspect.Parameter] = []
    for argument in schema.arguments:
        kind: Any = inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        name = "input" if argument.name == "self" else argument.name
        if name == "from":  # a keyword of Python cannot name an argument, nor can the arguments before it be named
            kind = inspect.Parameter.POSITIONAL_ONLY
            parameters = [p.replace(kind=kind) for p in parameters]
        default = argument.default_value if argument.has_default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=_python_type(argument.type)))
    returns = tuple(_python_type(ret.type) for ret in schema.returns)
    return inspect.Signature(parameters, return_annotation=returns[0] if len(returns) == 1 else returns or None)


def _schemas_of(op: Callable[..., Any]) -> list[FunctionSchema]:
    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        return list(op._schemas.values())
    if isinstance(op, type(_C._nn.linear)):
        signatures: Any = op.signatures()  # type: ignore[attr-defined]
        operators = {signature["operator"].partition(".")[0] for signature in signatures}
        return [FunctionSchema(entry) for name in sorted(operators) for entry in _C._get_op_schemas(name)]
    return []


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """Return a signature for each overload of an op.

    Args:
        op: a function such as ``torch.add``, or a member of ``torch.ops``.
        return_schemas: whether to return the schemas too.

    Returns:
        A list of signatures, or None if ``op`` is not an op; with ``return_schemas`` a pair of two lists.

    Example:
        >>> signatures = torch.fx.operator_schemas.get_signature_for_torch_op(torch.ops.aten.relu.default)
        >>> [list(signature.parameters) for signature in signatures]
        [['input']]

    Mirrors torch/fx/operator_schemas.py, ``get_signature_for_torch_op``.
    """
    schemas = _schemas_of(op)
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [_schema_to_signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def check_for_mutable_operation(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise an error if a call writes to one of its arguments.

    Args:
        target: the function.
        args, kwargs: the arguments.

    Raises:
        RuntimeError: exactly one overload fits the arguments, and the overload writes to an argument.

    Example:
        >>> torch.fx.operator_schemas.check_for_mutable_operation(torch.ops.aten.relu_.default, (torch.ones(1),), {})
        Traceback (most recent call last):
        ...
        RuntimeError: Tried to trace mutable operation aten::relu_(Tensor(a!) self) -> Tensor(a!). FX only supports ...

    Mirrors torch/fx/operator_schemas.py, ``check_for_mutable_operation``.
    """
    schemas = [s for s in _schemas_of(target) if _fits(_schema_to_signature(s), args, kwargs)]
    if len(schemas) == 1 and schemas[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {schemas[0]}. FX only supports functional code, so operations that "
            "mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


def create_type_hint(x: Any) -> Any:
    """Return the type of a list or tuple whose elements have the types that ``x`` lists.

    Example:
        >>> from reftorch.fx.operator_schemas import create_type_hint
        >>> create_type_hint([int, int]), create_type_hint((int, str)), create_type_hint(float)
        (list[int], tuple[typing.Any, ...], <class 'float'>)

    Mirrors torch/fx/operator_schemas.py, ``create_type_hint``.
    """
    if not isinstance(x, (list, tuple)):
        return x

    def container(element: Any) -> Any:
        return list[element] if isinstance(x, list) else tuple[element, ...]

    try:
        base = x[0] if x else Any
        for t in x:
            if issubclass(base, t):
                base = t
            elif not issubclass(t, base):
                return container(Any)
        return container(base)
    except Exception:
        _warnings.warn(f"We were not able to successfully create type hint from the type {x}")
        return x


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Return whether an argument of one type fits a parameter of another.

    Args:
        signature_type: the annotation of the parameter.
        argument_type: the type of the argument.

    Example:
        >>> from reftorch.fx.operator_schemas import type_matches
        >>> import typing
        >>> type_matches(typing.Optional[int], int), type_matches(typing.List[int], tuple[int, ...])
        (True, True)

    Mirrors torch/fx/operator_schemas.py, ``type_matches``.
    """
    if signature_type is argument_type:
        return True
    origin = typing.get_origin(signature_type)
    if origin in (typing.Union, types.UnionType) and signature_type != argument_type:
        return any(type_matches(member, argument_type) for member in typing.get_args(signature_type))
    if origin is list:
        element = typing.get_args(signature_type)[0]
        if argument_type is int and element is int:  # an int may stand for a list of one
            return True
        if not inspect.isclass(element):
            _warnings.warn(f"Does not support nested parametric types, got {signature_type}. Please file a bug.")
            return False
        if typing.get_origin(argument_type) is list:
            return issubclass(typing.get_args(argument_type)[0], element)
        if typing.get_origin(argument_type) is tuple:
            return all(c is ... or issubclass(c, element) for c in typing.get_args(argument_type))
        return False
    if signature_type is int and argument_type is reftorch.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(argument_type) and inspect.isclass(signature_type):
        return issubclass(argument_type, signature_type)
    return False


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return the arguments of a call as the signature of the function names them, with defaults filled in.

    Args:
        target: the function.
        args, kwargs: the arguments.
        arg_types, kwarg_types: the types of the arguments, which choose among the overloads of an op.
        normalize_to_only_use_kwargs: whether to name positional arguments too.

    Returns:
        The arguments, or None if no signature is known or none fits.

    Raises:
        RuntimeError: several overloads fit, and no types choose among them.

    Example:
        >>> x = torch.ones(2)
        >>> pair = torch.fx.operator_schemas.normalize_function(torch.nn.functional.hardtanh, (x, -2.0))
        >>> pair.args[1:], pair.kwargs
        ((-2.0,), {'max_val': 1.0, 'inplace': False})

    Mirrors torch/fx/operator_schemas.py, ``normalize_function``.
    """
    kwargs = kwargs or {}
    if not isinstance(target, (types.BuiltinFunctionType, OpOverload, OpOverloadPacket, type(_C._nn.linear))):
        signature = inspect.signature(inspect.unwrap(target))
        return _normalize(signature, args, kwargs, normalize_to_only_use_kwargs)
    signatures = get_signature_for_torch_op(target) or []
    matched = [signature for signature in signatures if _fits(signature, args, kwargs)]
    if len(matched) == 1:
        return _normalize(matched[0], args, kwargs, normalize_to_only_use_kwargs)
    if not matched:
        return None
    if arg_types is None and kwarg_types is None:
        listed = "\n".join(str(signature) for signature in matched)
        raise RuntimeError(
            f"Tried to normalize arguments to {typename(target)} but the schema match was ambiguous! Please provide "
            f"argument types to the normalize_arguments() call. Available schemas:\n{listed}"
        )
    arg_types, kwarg_types = arg_types or (), kwarg_types or {}
    for signature in signatures:
        if not _fits(signature, arg_types, kwarg_types):
            continue
        bound = signature.bind(*arg_types, **kwarg_types).arguments
        if all(type_matches(signature.parameters[name].annotation, t) for name, t in bound.items()):
            return _normalize(signature, args, kwargs, normalize_to_only_use_kwargs)
    return None


def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return the arguments of a call of a module of ``torch.nn`` as the signature of its ``forward`` names them.

    Args:
        root: the module that contains the submodule.
        target: the path to the submodule.
        args, kwargs: the arguments.
        normalize_to_only_use_kwargs: whether to name positional arguments too.

    Returns:
        The arguments, or None if the submodule's class is not from ``torch.nn``.

    Raises:
        RuntimeError: there is no such submodule.

    Example:
        >>> net = torch.nn.Sequential(torch.nn.ReLU())
        >>> torch.fx.operator_schemas.normalize_module(net, "0", (1,), normalize_to_only_use_kwargs=True).kwargs
        {'input': 1}

    Mirrors torch/fx/operator_schemas.py, ``normalize_module``.
    """
    try:
        submodule = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!") from e
    cls = type(submodule)
    if getattr(reftorch.nn, cls.__name__, None) is not cls:
        return None
    signature = inspect.signature(inspect.unwrap(submodule.forward))
    return _normalize(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalize(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    # Tensor.random_ is the one op with positional-only parameters whose arguments can be told apart.
    is_random = list(signature.parameters) == ["input", "from", "to", "generator"]
    if not is_random and any(p.kind not in named for p in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    names = list(signature.parameters)
    positional = 0 if only_kwargs else len(args)
    return ArgsKwargsPair(
        tuple(bound.arguments[name] for name in names[:positional]),
        {name: bound.arguments[name] for name in names[positional:]},
    )
