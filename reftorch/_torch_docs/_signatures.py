"""The Python signature of an op, made from the description that its argument parser returns.

Mirrors: torchgen/api/python.py (PythonSignature), tools/pyi/gen_pyi.py
Leaves out: numpy's names of parameters (axis, keepdims), which the parser accepts too.

The docstrings, ``inspect.signature`` and the stubs (.ci/gen_pyi.py) are all written from here.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# The stubs write `_int`, because the name `int` is a method inside the class; see reftorch/types.py.
_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "str",
    "ScalarType": "_dtype",
    "Layout": "_layout",
    "Device": "Device",
    "MemoryFormat": "_memory_format",
    "Generator": "Generator",
}
_SCHEMA_TYPE = re.compile(r"(\w+)(?:\([a-z]!?\))?(\?)?(\[\d*\])?(\?)?")


def annotation(schema_type: str, takes_number: bool = False, returned: bool = False) -> str:
    """The Python type of a schema's type, such as ``int[2]?``."""
    found = _SCHEMA_TYPE.fullmatch(schema_type)
    assert found is not None, schema_type
    base, item_optional, brackets, optional = found.groups()
    text = _TYPES[base] + (" | Number" if takes_number else "")
    if brackets is None:
        return f"{text} | None" if item_optional else text
    if returned:
        return f"tuple[{text}, ...]"
    if base == "int":
        text = "_size" if brackets == "[]" else "_int | _size"
    else:
        text = f"Sequence[{text} | None]" if item_optional else f"Sequence[{text}]"
    return f"{text} | None" if optional else text


@dataclass
class Parameter:
    """One parameter; ``default`` is a Python expression, or None if the parameter is required."""

    name: str
    annotation: str
    default: str | None
    kind: Any

    def __str__(self) -> str:
        if self.name == "self":
            return "self"
        stars = "*" if self.kind is inspect.Parameter.VAR_POSITIONAL else ""
        return f"{stars}{self.name}: {self.annotation}" + (f" = {self.default}" if self.default is not None else "")


@dataclass
class Signature:
    """One way to call an op."""

    name: str
    parameters: list[Parameter]
    returns: str
    fields: tuple[str, ...] = ()  # the names of the results, if they are a named tuple

    def __str__(self) -> str:
        parts = []
        starred = False
        for parameter in self.parameters:
            starred = starred or parameter.kind is inspect.Parameter.VAR_POSITIONAL
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            parts.append(str(parameter))
        return f"{self.name}({', '.join(parts)}) -> {self.returns}"

    def readable(self) -> str:
        """Return the signature as a docstring shows it: without ``self``, and with plain names of types."""
        shown = [parameter for parameter in self.parameters if parameter.name != "self"]
        returns = f"({', '.join(self.fields)})" if self.fields else self.returns
        text = re.sub(r"\b_size\b", "Sequence[int]", str(Signature(self.name, shown, returns)))
        return re.sub(r"(?<![\w.])_(int|float|bool|dtype|layout|memory_format)\b", r"\1", text)


def _returns(form: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the type of the results, and their names if the type is a named tuple such as ``return_types.max``."""
    types = [annotation(type, returned=True) for _, type in form["returns"]]
    if len(types) < 2:
        return (types[0] if types else "None"), ()
    if not form["returns"][0][0]:
        return f"tuple[{', '.join(types)}]", ()
    op = re.sub(r"^\w+::|\.\w+$", "", form["operator"])
    return f"return_types.{op}", tuple(name for name, _ in form["returns"])


def _parameters(form: dict[str, Any]) -> Iterator[Parameter]:
    P = inspect.Parameter
    for p in form["parameters"]:
        name = p["name"] + "_" if keyword.iskeyword(p["name"]) else p["name"]
        default = repr(p["default"]) if p["has_default"] else None
        kind = P.KEYWORD_ONLY if p["kwarg_only"] else P.POSITIONAL_OR_KEYWORD
        yield Parameter(name, annotation(p["type"], p["takes_number"]), default, kind)
    if form["out"]:
        one = "Tensor" if len(form["returns"]) == 1 else "Sequence[Tensor]"
        yield Parameter("out", f"{one} | None", "None", P.KEYWORD_ONLY)
    if form["requires_grad"]:
        yield Parameter("requires_grad", "_bool", "False", P.KEYWORD_ONLY)


def signatures(packet: Any) -> list[Signature]:
    """Return all signatures of an op, in the order in which the argument parser tries them."""
    found = []
    for form in packet.signatures():
        parameters = list(_parameters(form))
        returns, fields = _returns(form)
        found.append(Signature(packet.__name__, parameters, returns, fields))
        if form["varargs"]:  # zeros(2, 3) beside zeros((2, 3))
            at = next(i for i, parameter in enumerate(parameters) if "_size" in parameter.annotation)
            loose = Parameter(parameters[at].name, "_int", None, inspect.Parameter.VAR_POSITIONAL)
            found.append(Signature(packet.__name__, [*parameters[:at], loose, *parameters[at + 1 :]], returns, fields))
    return found
