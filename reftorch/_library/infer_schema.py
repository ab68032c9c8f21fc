"""Infers the schema of an op from the type annotations of a Python function.

Mirrors: torch/_library/infer_schema.py
Leaves out: opaque types, process groups, the tags ``inplace`` and ``out``.
"""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable
from types import GenericAlias, NoneType, UnionType
from typing import Any, NoReturn

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch.types import Number

__all__ = ["SUPPORTED_PARAM_TYPES", "SUPPORTED_RETURN_TYPES", "infer_schema"]

# The Python type, the schema type, and whether type[], type?[] and type[]? exist.
_BASE_TYPES: list[tuple[Any, str, bool, bool, bool]] = [
    (Tensor, "Tensor", True, True, False),
    (int, "SymInt", True, False, True),
    (float, "float", True, False, True),
    (bool, "bool", True, False, True),
    (str, "str", False, False, False),
    (Number, "Scalar", True, False, False),
    (_C.dtype, "ScalarType", False, False, False),
    (_C.device, "Device", False, False, False),
]


def _sequences_of(item: Any) -> tuple[Any, ...]:
    return (
        typing.Sequence[item],
        typing.List[item],  # noqa: UP006
        GenericAlias(collections.abc.Sequence, (item,)),
        GenericAlias(list, (item,)),
    )


def _parameter_types() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for python, schema, lists, lists_of_optional, optional_lists in _BASE_TYPES:
        found[python] = schema
        found[typing.Optional[python]] = f"{schema}?"  # noqa: UP045
        if lists:
            found.update((each, f"{schema}[]") for each in _sequences_of(python))
        if lists_of_optional:
            found.update((each, f"{schema}?[]") for each in _sequences_of(typing.Optional[python]))  # noqa: UP045
        if optional_lists:
            found.update((typing.Optional[each], f"{schema}[]?") for each in _sequences_of(python))  # noqa: UP045
    return found


SUPPORTED_PARAM_TYPES = _parameter_types()

SUPPORTED_RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


class _Inference:
    """The inference of the schema of one function."""

    def __init__(self, function: Callable[..., Any], mutates_args: Any) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        self.mutates_args = mutates_args

    def error(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")

    def resolve(self, annotation: Any) -> Any:
        """Evaluate an annotation that is a string, or that contains one."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, self.function.__globals__)
            except NameError as error:
                self.error(
                    f"Unsupported type annotation {annotation}. It is not a type. ({error}). If you are using 'from "
                    "__future__ import annotations', note that annotations are evaluated lazily as strings; make sure "
                    "all types referenced in annotations are importable at module scope, not only inside a local "
                    "function."
                )
            except Exception as error:
                self.error(
                    f"Unsupported type annotation {annotation}. It is not a type. ({type(error).__name__}: {error})"
                )
        origin = typing.get_origin(annotation)
        args = typing.get_args(annotation)
        if isinstance(annotation, UnionType) and NoneType in args and len(args) == 2:
            return typing.Optional[next(self.resolve(arg) for arg in args if arg is not NoneType)]  # noqa: UP045
        if origin is not None and any(isinstance(arg, str) for arg in args):
            return GenericAlias(origin, tuple(self.resolve(arg) for arg in args))
        return annotation

    def parameter_type(self, name: str, annotation: Any) -> str:
        if annotation is inspect.Parameter.empty:
            self.error(f"Parameter {name} must have a type annotation.")
        resolved = self.resolve(annotation)
        schema = SUPPORTED_PARAM_TYPES.get(resolved)
        if schema is not None:
            return schema
        hint = ""
        if typing.get_origin(resolved) is tuple:
            hint = "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
        self.error(
            f"Parameter {name} has unsupported type {annotation}. {hint}The valid types are: "
            f"{SUPPORTED_PARAM_TYPES.keys()}."
        )

    def mark_mutated(self, position: int, name: str, schema: str) -> str:
        """Add ``(a0!)`` to the type of an argument that the function changes."""
        if self.mutates_args == "unknown":
            mutated = schema.startswith("Tensor")
        else:
            mutated = name in self.mutates_args
        if not mutated:
            return schema
        if not schema.startswith("Tensor"):
            self.error(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        return f"Tensor(a{position}!){schema.removeprefix('Tensor')}"

    def default(self, parameter: inspect.Parameter) -> str:
        value = parameter.default
        if value is None or isinstance(value, (int, float, bool)):
            return str(value)
        if isinstance(value, (str, _C.device)):
            return f'"{value}"'
        if isinstance(value, _C.dtype):
            return str(value).removeprefix("torch.")
        self.error(
            f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please file an issue on "
            "GitHub so we can prioritize this."
        )

    def parameters(self) -> Iterable[str]:
        saw_keyword_only = False
        for position, (name, parameter) in enumerate(self.signature.parameters.items()):
            if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
                self.error("We do not support positional-only args, varargs, or varkwargs.")
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not saw_keyword_only:
                saw_keyword_only = True
                yield "*"
            text = self.mark_mutated(position, name, self.parameter_type(name, parameter.annotation)) + " " + name
            has_default = parameter.default is not inspect.Parameter.empty
            yield f"{text}={self.default(parameter)}" if has_default else text

    def returns(self) -> str:
        annotation = self.resolve(self.signature.return_annotation)
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            self.error("No return type annotation was provided. Please add one.")
        if typing.get_origin(annotation) is not tuple:
            if annotation not in SUPPORTED_RETURN_TYPES:
                self.error(f"Return has unsupported type {annotation}. The valid types are: {SUPPORTED_RETURN_TYPES}.")
            return SUPPORTED_RETURN_TYPES[annotation]
        args = typing.get_args(annotation)
        if any(arg not in SUPPORTED_RETURN_TYPES for arg in args):
            self.error(f"Return has unsupported type {annotation}. The valid types are: {SUPPORTED_RETURN_TYPES}.")
        text = ", ".join(SUPPORTED_RETURN_TYPES[arg] for arg in args)
        return f"(({text}))" if len(args) == 1 else f"({text})"


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None, tags: Any = ()
) -> str:
    """Return the schema of a function, inferred from its annotations.

    Args:
        prototype_function: the function. Its parameters and its result must have annotations.
        mutates_args: the names of the arguments that the function changes, or ``"unknown"`` if it may change every
            tensor.
        op_name: a name to put in front of the schema.
        tags: accepted for compatibility with PyTorch; has no effect.

    Raises:
        ValueError: an annotation is missing or has no type in a schema, a default value cannot be written in a schema,
            or ``mutates_args`` names an argument that the function does not have.

    Example:
        >>> def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        ...     return x * factor
        >>> torch.library.infer_schema(scale, op_name="scale", mutates_args=())
        'scale(Tensor x, float factor=2.0) -> Tensor'

    Mirrors torch/_library/infer_schema.py, ``infer_schema``.
    """
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
                "'unknown'. "
            )
    else:
        mutates_args = tuple(mutates_args)
    inference = _Inference(prototype_function, mutates_args)
    parameters = ", ".join(inference.parameters())
    if mutates_args != "unknown":
        unseen = set(mutates_args) - set(inference.signature.parameters)
        if unseen:
            inference.error(
                f"{unseen} in mutates_args were not found in the custom op's signature. mutates_args should contain "
                "the names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
            )
    return f"{op_name or ''}({parameters}) -> {inference.returns()}"
