"""Ops by the names of their schemas: ``torch.ops.aten.add.Tensor`` is the overload ``aten::add.Tensor`` and no other.

``torch.add`` finds the overload that its arguments fit; programs that transform other programs (a tracer, a
``__torch_dispatch__`` of PyTorch, a test of one overload) name the overload. What is called is the same entry of the
Dispatcher, so gradients and transforms work as they do through ``torch.add``.

Mirrors: torch/_ops.py
Leaves out: namespaces other than aten, higher-order operators, the dispatch cache, the
    overloads on plain numbers (``aten::add.int``). ``overloads()`` names an out= variant after the overload it belongs
    to, ``Tensor_out``, where PyTorch's list says ``out``; both names find it. Arguments that do not fit raise the
    TypeError that ``torch.add`` raises, where PyTorch's overloads raise a RuntimeError.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from reftorch import _C


class Argument(NamedTuple):
    """One parameter of a schema."""

    name: str
    type: str
    kwarg_only: bool
    has_default: bool
    default_value: Any


class FunctionSchema:
    """What is known of an overload before it is called; ``str()`` gives PyTorch's text of it.

    Mirrors: aten/src/ATen/core/function_schema.h

    Example:
        >>> import reftorch as torch
        >>> schema = torch.ops.aten.add.Tensor._schema
        >>> [argument.name for argument in schema.arguments]
        ['self', 'other', 'alpha']
        >>> schema.overload_name
        'Tensor'
    """

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name, _, self.overload_name = entry["name"].partition(".")
        self.arguments = [
            Argument(a["name"], a["type"], a["kwarg_only"], a["has_default"], a["default"]) for a in entry["arguments"]
        ]
        self.returns = [Argument(name, type, False, False, None) for name, type in entry["returns"]]
        self._text = entry["schema"]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


@cache
def _schemas() -> dict[str, dict[str, FunctionSchema]]:
    """``{"add": {"Tensor": schema, "Scalar": schema, "out": schema}, ...}``"""
    by_name: dict[str, dict[str, FunctionSchema]] = {}
    for entry in _C._get_all_op_schemas():
        schema = FunctionSchema(entry)
        by_name.setdefault(schema.name.removeprefix("aten::"), {})[schema.overload_name or "default"] = schema
    return by_name


def _is_op(name: str) -> bool:
    if name not in _schemas():
        _schemas.cache_clear()  # a library that was loaded meanwhile may have brought it
    return name in _schemas()


class OpOverload:
    """One overload of an op: what the Dispatcher calls, with no choice left to the arguments.

    Example:
        >>> import reftorch as torch
        >>> torch.ops.aten.sum.dim_IntList(torch.ones(2, 3), [0])
        tensor([2., 2., 2.])
        >>> torch.ops.aten.sum.dim_IntList
        <OpOverload(op='aten.sum', overload='dim_IntList')>
    """

    namespace = "aten"

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = packet
        self._overloadname = overload
        self._schema = _schemas()[packet.__name__][overload]
        self._op = _C._get_operation(packet.__name__, "" if overload == "default" else overload)
        self._name = self._schema.name + ("" if overload == "default" else "." + overload)
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def name(self) -> str:
        """``aten::add.Tensor``"""
        return self._name

    @property
    def tags(self) -> list[_C.Tag]:
        """Facts about the op that its schema does not say, as members of ``torch.Tag``.

        Example:
            >>> import reftorch as torch
            >>> torch.ops.aten.nonzero.default.tags
            [<Tag.dynamic_output_shape: 1>]
            >>> torch.Tag.inplace_view in torch.ops.aten.t_.default.tags
            True

        Mirrors torch/_ops.py, ``OpOverload.tags``.
        """
        return _C._dispatch_tags(self._name)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.overloadpacket.__name__}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of a name; a call takes the first that fits.

    Example:
        >>> import reftorch as torch
        >>> torch.ops.aten.mul(torch.ones(2), 3)
        tensor([3., 3.])
        >>> "Tensor" in torch.ops.aten.mul.overloads()
        True
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"
        self._op = _C._get_operation(name, None)
        self._overload_names = list(_schemas()[name])
        # Where PyTorch has but one out= variant it calls it that, whatever the overload is called that it belongs to.
        self._out = "Tensor_out" if "out" not in self._overload_names else "out"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def overloads(self) -> list[str]:
        """Names of the overloads; one without a name is the ``default``."""
        return list(self._overload_names)

    def __getattr__(self, overload: str) -> OpOverload:
        overload = self._out if overload == "out" else overload
        if overload.startswith("__") or overload not in self._overload_names:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        found = OpOverload(self, overload)
        setattr(self, overload, found)  # the next time this is an ordinary attribute
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._overload_names]

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _OpNamespace:
    """``torch.ops.aten``: a packet is made where it is first asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or self.name != "aten" or not _is_op(name):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        packet = OpOverloadPacket(name)
        setattr(self, name, packet)
        return packet

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(_schemas() if self.name == "aten" else ())]

    def __repr__(self) -> str:
        return f"<namespace 'torch.ops.{self.name}'>"


class _Ops:
    """``torch.ops``: every namespace that is asked for, of which aten alone has ops."""

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"'_Ops' object has no attribute '{name}'")
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def __repr__(self) -> str:
        return "<torch.ops>"


ops = _Ops()
