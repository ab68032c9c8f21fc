"""A library holds ops that Python defines and kernels that Python registers, and can remove them again.

A library of kind DEF or FRAGMENT defines ops of its namespace; a library of any kind registers kernels for them. A
kernel is a Python function on one row of the op's table, and the Dispatcher calls it as it calls a kernel of C++.

Mirrors: torch/library.py (``Library``), torch/_library/utils.py, torch/_library/simple_registry.py
Leaves out: alias analysis, effects, symmetric memory, kernels compiled ahead of time. A library that is destroyed takes
    its ops with it, including the kernels of other libraries for these ops.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C, _ops
from reftorch._ops import FunctionSchema, OpOverload
from reftorch._overload_names import qualified_in_cpp

__all__ = ["Library", "fallthrough_kernel", "lookup_op", "parse_namespace"]

# "namespace/op/key" of each kernel that a library has registered, to find a second kernel for one row.
_impls: set[str] = set()
_defs: set[str] = set()
# The fake kernels that register_fake has registered, by the name of their op.
_fake_impls: dict[str, Callable[..., Any]] = {}

_RESERVED_NAMESPACES = ("prim",)
# The namespaces whose ops C++ defines, and one that is taken in PyTorch.
_DEFINED_IN_CPP = ("aten", "prims")


def fallthrough_kernel() -> None:
    """Mark a row that the Dispatcher skips. Pass this function to ``Library.impl`` as the kernel.

    Raises:
        NotImplementedError: the function was called, which never happens to a registered kernel.

    Example:
        >>> with torch.library._scoped_library("mylib", "FRAGMENT") as lib:
        ...     _ = lib.define("fourfold(Tensor x) -> Tensor")
        ...     lib.impl("fourfold", lambda x: x * 4, "CPU")
        ...     lib.impl("fourfold", torch.library.fallthrough_kernel, "Autograd")
        ...     torch.ops.mylib.fourfold(torch.ones(2))
        tensor([4., 4.])

    Mirrors torch/library.py, ``fallthrough_kernel``.
    """
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def parse_namespace(qualname: str) -> tuple[str, str]:
    """Split ``"mylib::sin"``.

    Raises:
        ValueError: the name has no namespace.

    Mirrors torch/_library/utils.py, ``parse_namespace``.
    """
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return parts[0], parts[1]


def lookup_op(qualname: str) -> OpOverload:
    """Find the overload of ``"mylib::sin"`` or ``"mylib::sin.out"``.

    Raises:
        AttributeError: there is no such op.

    Mirrors torch/_library/utils.py, ``lookup_op``.
    """
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    found: OpOverload = getattr(getattr(getattr(_ops.ops, namespace), name), overload or "default")
    return found


def fill_defaults(schema: FunctionSchema, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Add the arguments that the Dispatcher has left out because they are equal to their defaults.

    Mirrors torch/_library/utils.py, ``fill_defaults``.
    """
    filled, named = list(args), {}
    for i, argument in enumerate(schema.arguments):
        if argument.kwarg_only:
            named[argument.name] = kwargs.get(argument.name, argument.default_value)
        elif i >= len(args):
            filled.append(argument.default_value)
    return tuple(filled), named


def _destroy(m: Any, op_impls: set[str], op_defs: set[str], handles: list[Callable[[], None]]) -> None:
    """Remove the registrations of a library. Has no reference to the library, so that a finalizer can call it."""
    for handle in handles:
        handle()
    handles.clear()
    m.reset()
    _impls.difference_update(op_impls)
    _defs.difference_update(op_defs)
    for qualname in op_defs:
        _ops._refresh_packet(qualname.partition(".")[0])


class Library:
    """A set of registrations in one namespace, which are removed when the library is destroyed.

    Args:
        ns: the namespace.
        kind: ``"DEF"`` for the one library that defines the namespace, ``"FRAGMENT"`` for a further library that
            defines ops in it, ``"IMPL"`` for a library of kernels for ops that are defined elsewhere, for example in
            ``aten``.
        dispatch_key: the key for calls of ``impl`` that give no key.

    Raises:
        ValueError: the kind is none of these, or the namespace is reserved.
        RuntimeError: the namespace already has a library of kind DEF.

    Example:
        >>> lib = torch.library.Library("mylib", "FRAGMENT")
        >>> lib.define("triple(Tensor x) -> Tensor")
        'triple'
        >>> lib.impl("triple", lambda x: x * 3, "CompositeImplicitAutograd")
        >>> torch.ops.mylib.triple(torch.ones(2))
        tensor([3., 3.])
        >>> lib._destroy()

    Mirrors torch/library.py, ``Library``.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED_NAMESPACES and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        frame = sys._getframe(1)
        if kind == "DEF" and ns in _DEFINED_IN_CPP:
            raise RuntimeError(
                f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                "definitions in a single TORCH_LIBRARY block. C++ defines this namespace. Hint: a library of kind "
                '"FRAGMENT" adds ops to it, and one of kind "IMPL" kernels. Latest registration of TORCH_LIBRARY was '
                f"registered at {frame.f_code.co_filename}:{frame.f_lineno}"
            )
        self.m: Any = _C._dispatch_library(kind, ns, dispatch_key, frame.f_code.co_filename, frame.f_lineno)
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._op_defs: set[str] = set()
        self._op_impls: set[str] = set()
        self._registration_handles: list[Callable[[], None]] = []
        # A finalizer is used instead of __del__, because its references are still valid when Python exits.
        self._finalizer = weakref.finalize(
            self, _destroy, self.m, self._op_impls, self._op_defs, self._registration_handles
        )

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _check_alive(self) -> None:
        if self.m is None:
            raise AssertionError("Library object has been destroyed")

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an op. Calls of the op need a kernel, which ``impl`` registers.

        Args:
            schema: the op's name and signature, ``"sin(Tensor x) -> Tensor"``.
            alias_analysis: accepted for compatibility with PyTorch; the schema says which arguments and results alias.
            tags: facts about the op that programs can read from ``torch.ops.mylib.sin.default.tags``.

        Returns:
            The op's name.

        Raises:
            RuntimeError: the text is not a schema or names another namespace, the op is already defined, or the library
                has the kind IMPL.

        Mirrors torch/library.py, ``Library.define``.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        self._check_alive()
        result: str = self.m.define(schema, alias_analysis, tuple(tags) if isinstance(tags, (tuple, list)) else (tags,))
        qualname = f"{self.ns}::{schema.partition('(')[0].strip().rpartition('::')[2]}"
        self._op_defs.add(qualname)
        _defs.add(qualname)
        _ops._refresh_packet(f"{self.ns}::{result}")
        if tags:
            lookup_op(qualname)._tags = list(tags) if isinstance(tags, (tuple, list)) else [tags]
        return result

    def _resolve_op_name(self, op_name: Any, api_name: str) -> str:
        if isinstance(op_name, str):
            return op_name
        if isinstance(op_name, OpOverload):
            return op_name.name()
        raise RuntimeError(
            f"{api_name} should be passed either a name or an OpOverload object as the first argument, got "
            f"{type(op_name)}"
        )

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register a function as a kernel of an op.

        Args:
            op_name: the op's name with its overload, or the OpOverload.
            fn: the kernel, or ``fallthrough_kernel`` for a row that the Dispatcher skips.
            dispatch_key: the row: ``"CPU"``, ``"Autograd"``, ``"CompositeExplicitAutograd"`` and so on. The default is
                the library's key, or ``"CompositeImplicitAutograd"`` if the library has none.
            with_keyset: pass the DispatchKeySet of the call as the first argument of ``fn``, for
                ``OpOverload.redispatch``.
            allow_override: if False, it is an error if a library already has a kernel in the row.

        Raises:
            TypeError: ``fn`` cannot be called.
            RuntimeError: there is no such op or key, or ``allow_override`` is False and the row has a kernel.

        Example:
            >>> lib = torch.library.Library("aten", "IMPL")
            >>> lib.impl("cosh", lambda x: torch.zeros_like(x), "CPU")
            >>> torch.cosh(torch.ones(2))
            tensor([0., 0.])
            >>> lib._destroy()
            >>> torch.cosh(torch.zeros(2))
            tensor([1., 1.])

        Mirrors torch/library.py, ``Library.impl``.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        dispatch_key = dispatch_key or self.dispatch_key
        name = self._resolve_op_name(op_name, "impl")
        base = name.split("::")[-1]
        key = f"{self.ns}/{base}/{dispatch_key}"
        if not allow_override and key in _impls:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {base}'s "
                f"behavior for {dispatch_key} dispatch key and {self.ns} namespace."
            )
        self._check_alive()
        here = qualified_in_cpp(name if "::" in name else f"{self.ns}::{name}")
        self.m.impl(
            here if "::" in name else here.split("::")[-1], dispatch_key or "CompositeImplicitAutograd", fn, with_keyset
        )
        _impls.add(key)
        self._op_impls.add(key)

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register a function for every op that has no kernel of its own in a row.

        Args:
            fn: takes the OpOverload and then the op's arguments.
            dispatch_key: the row; the default is the library's key.
            with_keyset: pass the DispatchKeySet of the call as the first argument of ``fn``.

        Raises:
            RuntimeError: the library's namespace is not ``"_"``, which means all namespaces.

        Mirrors torch/library.py, ``Library.fallback``.
        """
        dispatch_key = dispatch_key or self.dispatch_key
        if self.ns != "_":
            raise RuntimeError(
                'Fallback can only be registered using library fragment on the global namespace "_" but it is '
                f"{self.ns}"
            )
        if dispatch_key == "":
            raise AssertionError("dispatch_key must not be empty for fallback")
        self._check_alive()
        self.m.fallback(dispatch_key, fn, with_keyset)

    def _register_fake(self, op_name: str, fn: Callable[..., Any], *, allow_override: bool = True) -> None:
        qualname = f"{self.ns}::{op_name}"
        if qualname in _fake_impls and not allow_override:
            raise RuntimeError(f"register_fake(...): the operator {qualname} already has an fake impl registered.")
        former = _fake_impls.get(qualname)
        _fake_impls[qualname] = fn

        def take_back() -> None:
            if former is None:
                _fake_impls.pop(qualname, None)
            else:
                _fake_impls[qualname] = former

        self._registration_handles.append(take_back)

    def _register_torch_dispatch_rule(self, op_name: str, torch_dispatch_class: type, fn: Callable[..., Any]) -> None:
        key = (lookup_op(f"{self.ns}::{op_name}"), torch_dispatch_class)
        if key in _C._torch_dispatch_rules:
            raise RuntimeError(
                f"{torch_dispatch_class} already has a `__torch_dispatch__` rule registered for {self.ns}::{op_name}"
            )
        _C._torch_dispatch_rules[key] = fn
        self._registration_handles.append(lambda: _C._torch_dispatch_rules.pop(key, None))

    def _destroy(self) -> None:
        """Remove all registrations. The library cannot be used afterwards."""
        self._finalizer()
        self.m = None


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """Make a library that is destroyed at the end of the block.

    Mirrors torch/library.py, ``_scoped_library``.
    """
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()
