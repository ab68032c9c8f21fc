"""Tests of the registrations of an op, with arguments that the caller gives.

Mirrors: torch/testing/_internal/optests/, torch/_subclasses/schema_check_mode.py
Leaves out: ``test_aot_dispatch_dynamic``, which needs a compiler, and the generator of tests. ``test_faketensor`` runs
    the op on meta tensors, because there is no FakeTensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from reftorch._library.custom_ops import CustomOpDef
from reftorch._ops import OpOverload, OpOverloadPacket
from reftorch._tensor import Tensor
from reftorch.utils._python_dispatch import TorchDispatchMode
from reftorch.utils._pytree import tree_leaves, tree_map

__all__ = ["DEFAULT_TEST_UTILS", "OpCheckError", "opcheck"]


class OpCheckError(Exception):
    """An op did not pass a test of :func:`opcheck`."""


def _copy(tree: Any) -> Any:
    """Copy the tensors of the arguments, so that a test does not change the caller's tensors."""

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        made = leaf.detach().clone()
        return made.requires_grad_() if leaf.requires_grad else made

    return tree_map(copy, tree)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal. NaN counts as equal to NaN."""
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def _share_memory(a: Any, b: Any) -> bool:
    storages = {t.untyped_storage()._cdata for t in _tensors(a)}
    return any(t.untyped_storage()._cdata in storages for t in _tensors(b))


class SchemaCheckMode(TorchDispatchMode):
    """Checks that an op changes and aliases exactly the tensors that its schema names.

    Raises:
        RuntimeError: inside the block, an op contradicts its schema.

    Example:
        >>> from reftorch._library.optests import SchemaCheckMode
        >>> with SchemaCheckMode():
        ...     x = torch.ones(2).add_(1)

    Mirrors torch/_subclasses/schema_check_mode.py, ``SchemaCheckMode``.
    """

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call ``func`` and compare its arguments before and after the call."""
        kwargs = kwargs or {}
        schema = func._schema
        named = list(zip(schema.arguments, args, strict=False))
        named += [(argument, kwargs[argument.name]) for argument in schema.arguments if argument.name in kwargs]
        before = [[t.clone() for t in _tensors(value)] for _, value in named]
        out = func(*args, **kwargs)
        outputs = out if isinstance(out, tuple) else (out,)
        for (argument, value), former in zip(named, before, strict=True):
            alias = argument.alias_info
            for j, output in enumerate(outputs):
                ret = schema.returns[j].alias_info if j < len(schema.returns) else None
                may_alias = alias is not None and ret is not None and bool(alias.before_set & ret.before_set)
                if _share_memory(value, output) and not may_alias:
                    raise RuntimeError(f"Argument {argument.name} is not defined to alias output but was aliasing")
            changed = any(not _same_bits(a, b) for a, b in zip(former, _tensors(value), strict=True))
            if changed and not (alias is not None and alias.is_write):
                raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was mutated")
        for i, j in combinations(range(len(outputs)), 2):
            if schema.returns[i].alias_info is None and _share_memory(outputs[i], outputs[j]):
                raise RuntimeError(f"Outputs {i} and {j} alias unexpectedly")
        return out


def _test_schema(op: OpOverload, args: Any, kwargs: Any, rtol: float | None, atol: float | None) -> None:
    args, kwargs = _copy((args, kwargs))
    with SchemaCheckMode():
        op(*args, **kwargs)


def _test_autograd_registration(op: OpOverload, args: Any, kwargs: Any, rtol: float | None, atol: float | None) -> None:
    args, kwargs = _copy((args, kwargs))
    inputs = _tensors((args, kwargs))
    if not any(t.requires_grad for t in inputs):
        return  # nothing to record
    if any(op.has_kernel_for_dispatch_key(key) for key in ("Autograd", "CompositeImplicitAutograd")):
        return
    # The fallback of Autograd gives its results a marked grad_fn. Any other grad_fn was recorded in a lower row.
    outputs = _tensors(op(*args, **kwargs))
    if any(
        t.requires_grad and type(t.grad_fn).__name__ != "WarnNotImplemented" and all(t is not given for given in inputs)
        for t in outputs
    ):
        raise AssertionError(
            f"{op.name()}: at least one output of this operator has requires_grad=True but the operator does not have "
            "an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have "
            "incorrectly registered an autograd kernel to a non-Autograd DispatchKey, which may lead to silently "
            "incorrect results."
        )


def _test_faketensor(op: OpOverload, args: Any, kwargs: Any, rtol: float | None, atol: float | None) -> None:
    args, kwargs = _copy((args, kwargs))
    meta_args, meta_kwargs = tree_map(
        lambda leaf: leaf.detach().to("meta") if isinstance(leaf, Tensor) else leaf, (args, kwargs)
    )
    expected = _tensors(op(*args, **kwargs))
    found = _tensors(op(*meta_args, **meta_kwargs))
    if len(expected) != len(found):
        raise AssertionError(f"the op returns {len(expected)} tensors, its fake kernel {len(found)}")
    for real, fake in zip(expected, found, strict=True):
        for what in ("shape", "dtype"):
            if getattr(real, what) != getattr(fake, what):
                raise AssertionError(
                    f"Metadata mismatch: {what} {getattr(real, what)} != {getattr(fake, what)} of fake"
                )
        if real.stride() != fake.stride() and real.numel() > 0:
            raise AssertionError(f"Metadata mismatch: stride {real.stride()} != {fake.stride()} of fake")


_Test = Callable[[OpOverload, Any, Any, "float | None", "float | None"], None]
ALL_TEST_UTILS: dict[str, _Test] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
}
DEFAULT_TEST_UTILS = tuple(ALL_TEST_UTILS)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT_TEST_UTILS,
    raise_exception: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
) -> dict[str, Any]:
    """Test the registrations of an op.

    ``test_schema`` runs the op and checks for changes and aliases that the schema does not allow.
    ``test_autograd_registration`` checks for gradients that are recorded below the row Autograd, where they get lost.
    ``test_faketensor`` compares shape, strides and dtype of the results with those of the kernel for meta tensors.

    Args:
        op: the result of ``custom_op``, or an op of ``torch.ops``.
        args: the op's arguments. If the op has a gradient, some of them should require a gradient.
        kwargs: the op's keyword arguments.
        test_utils: the tests to run, or ``"ALL"``.
        raise_exception: if False, exceptions are returned instead of raised.
        rtol: accepted for compatibility with PyTorch, together with ``atol``; has no effect.
        atol: accepted for compatibility with PyTorch; has no effect.

    Returns:
        A dict with ``"SUCCESS"`` or the exception for each test.

    Raises:
        OpCheckError: a test failed.
        ValueError: ``op`` is not an op, or there is no such test.

    Example:
        >>> torch.library.opcheck(torch.ops.aten.sin.default, (torch.ones(2),))["test_schema"]
        'SUCCESS'

    Mirrors torch/testing/_internal/optests/generate_tests.py, ``opcheck``.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck(op, ...): if you specify one of rtol/atol, you must specify both")
    if isinstance(op, CustomOpDef):
        op = op._opoverload
    if isinstance(op, OpOverloadPacket):
        if len(op.overloads()) != 1:
            raise RuntimeError(
                "opcheck can only test operators without overloads. Got the following overloads for "
                f"{op._qualified_op_name}: {op.overloads()}"
            )
        op = getattr(op, op.overloads()[0])
    if not isinstance(op, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got "
            f"{type(op)}"
        )
    tests = DEFAULT_TEST_UTILS if test_utils == "ALL" else (test_utils,) if isinstance(test_utils, str) else test_utils
    if not isinstance(tests, (tuple, list)) or not set(tests) <= set(ALL_TEST_UTILS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {DEFAULT_TEST_UTILS} but "
            "it was not"
        )
    results: dict[str, Any] = {}
    for test in tests:
        try:
            ALL_TEST_UTILS[test](op, args, kwargs or {}, rtol, atol)
            results[test] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {test} failed with {error} (scroll up for stack trace)"
                ) from error
            results[test] = error
    return results
