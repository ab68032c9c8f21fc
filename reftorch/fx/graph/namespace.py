"""Names in generated code: unique, valid, and no builtin's.

Mirrors: torch/fx/graph.py (``_Namespace``)
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Hashable
from typing import Any, NamedTuple

import reftorch
from reftorch.fx import _pytree as fx_pytree
from reftorch.utils import _pytree as pytree


class _CustomBuiltin(NamedTuple):
    """A global variable of all generated code, because the ``repr`` of common objects uses its name."""

    import_str: str  # the statement that defines the variable in code that stands in a file
    obj: Any


_custom_builtins: dict[str, _CustomBuiltin] = {}
# Names that a node cannot have, and the object that may have the name.
_illegal_names: dict[str, Any] = {name: object() for name in keyword.kwlist}
_illegal_names.update(builtins.__dict__)


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)
    _illegal_names[name] = obj


_register_custom_builtin("inf", "from math import inf", math.inf)
_register_custom_builtin("nan", "from math import nan", math.nan)
_register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
_register_custom_builtin("torch", "import reftorch as torch", reftorch)
_register_custom_builtin("device", "from reftorch import device", reftorch.device)
_register_custom_builtin("fx_pytree", "import reftorch.fx._pytree as fx_pytree", fx_pytree)
_register_custom_builtin("pytree", "import reftorch.utils._pytree as pytree", pytree)

_lower_upper = re.compile(r"(?<=[a-z])([A-Z])")
_illegal_char_regex = re.compile("[^0-9a-zA-Z_]+")
_name_regex = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")


def _is_magic(x: str) -> bool:
    return x.startswith("__") and x.endswith("__")


def _snake_case(s: str) -> str:
    """Return a variable name for a class name: ``BatchNorm`` becomes ``batch_norm``, ``ALL_CAPS`` ``all_caps``."""
    return _lower_upper.sub(r"_\1", s).lower()


class _Namespace:
    """The names in use. Each object has one name, each name one object.

    Example:
        >>> from reftorch.fx.graph import _Namespace
        >>> names = _Namespace()
        >>> [names.create_name(candidate, None) for candidate in ("add", "add", "0.weight", "sum", "add_7", "add")]
        ['add', 'add_1', '_0_weight', 'sum_1', 'add_7', 'add_8']

    Mirrors torch/fx/graph.py, ``_Namespace``.
    """

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}  # the last number given to names that begin with a word

    def create_name(self, candidate: str, obj: Hashable | None) -> str:
        """Return a unique name that is like ``candidate``.

        Args:
            candidate: the name that is wanted. It gets a number if it is in use or is a builtin's.
            obj: the object that is to have the name, or None. An object that has a name keeps its name.
        """
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        match = _name_regex.match(candidate)
        if match is None:
            candidate = _illegal_char_regex.sub("_", candidate) or "_unnamed"
            if candidate[0].isdigit():
                candidate = f"_{candidate}"
            match = _name_regex.match(candidate)
            assert match is not None
        base, digits = match.group(1, 2)
        if digits is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _illegal_names.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        else:
            number = int(digits)
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Hashable) -> None:
        """Note that an object has a name that ``create_name`` returned.

        Raises:
            AssertionError: the object has another name.
        """
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: Hashable, name: str) -> None:
        if obj not in self._obj_to_name:
            raise AssertionError(f"Object {obj} is not in _obj_to_name")
        self._obj_to_name[obj] = name
        self._used_names.add(name)
