"""torch.ops.aten: ops by the names of their schemas.

Mirrors: test/test_ops.py, test/test_custom_ops.py (what they ask of torch.ops.aten)
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.checks import assert_same_outcome

CALLS: dict[str, Callable[[Any], Any]] = {
    "packet": lambda t: t.ops.aten.add(t.ones(2), 1),
    "overload": lambda t: t.ops.aten.add.Tensor(t.ones(2), t.ones(2), alpha=2),
    "default": lambda t: t.ops.aten.mm.default(t.eye(2), t.eye(2)),
    "out": lambda t: t.ops.aten.add.out(t.ones(2), t.ones(2), out=t.empty(2)),
    "in place": lambda t: t.ops.aten.add_.Tensor(t.ones(2), t.ones(2)),
    "keywords": lambda t: t.ops.aten.sub.Tensor(self=t.ones(2), other=t.ones(2)),
    "list": lambda t: t.ops.aten.sum.dim_IntList(t.ones(2, 3), [0]),
    "two results": lambda t: tuple(t.ops.aten.max.dim(t.eye(2), 0)),
    "indices": lambda t: t.ops.aten.index.Tensor(t.arange(3), [t.tensor([0, 2])]),
    "factory": lambda t: t.ops.aten.zeros([2]),
    "no such op": lambda t: t.ops.aten.nosuch,
    "no such overload": lambda t: t.ops.aten.add.nosuch,
    "no such namespace": lambda t: t.ops.nosuch.add,
}


@pytest.mark.parametrize("name", CALLS)
def test_equals_torch(name: str, real_torch: Any) -> None:
    def answer(t: Any) -> Any:
        try:
            return CALLS[name](t)
        except AttributeError as error:
            return str(error)

    assert_same_outcome(lambda: answer(reftorch), lambda: answer(real_torch), name)


def test_names_are_torchs(real_torch_or_none: Any) -> None:
    def program(t: Any) -> None:
        add = t.ops.aten.add
        assert str(add) == "aten.add" and repr(add) == "<OpOverloadPacket(op='aten.add')>"
        assert str(add.Tensor) == add.Tensor.__name__.replace("add", "aten.add", 1) == "aten.add.Tensor"
        assert repr(t.ops.aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>"
        assert add.Tensor.name() == "aten::add.Tensor" and t.ops.aten.mm.default.name() == "aten::mm"
        assert add.Tensor.overloadpacket is add and add.Tensor is t.ops.aten.add.Tensor
        assert "Tensor" in add.overloads() and t.ops.aten.mm.overloads()[0] == "default"
        assert (add.Tensor.namespace, add._qualified_op_name) == ("aten", "aten::add")
        schema = add.Tensor._schema
        assert (schema.name, schema.overload_name) == ("aten::add", "Tensor")
        assert [a.name for a in schema.arguments] == ["self", "other", "alpha"]
        assert str(schema) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"

    program(reftorch)
    if real_torch_or_none is not None:
        asked(real_torch_or_none, program)


def test_every_schema_is_an_overload() -> None:
    for entry in reftorch._C._get_all_op_schemas():
        name, _, overload = entry["name"].removeprefix("aten::").partition(".")
        found = getattr(getattr(reftorch.ops.aten, name), overload or "default")
        assert found.name() == entry["name"] and callable(found)


def test_gradients_go_through() -> None:
    x = reftorch.ones(2, requires_grad=True)
    reftorch.ops.aten.mul.Tensor(x, x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]


def test_names_find_ops_and_overloads() -> None:
    assert reftorch.ops.aten.add.out is reftorch.ops.aten.add.Tensor_out
    assert "add" in dir(reftorch.ops.aten) and "Tensor" in dir(reftorch.ops.aten.add)


def _noted_functions(t: Any) -> Any:
    """What py_impl notes, and what it refuses."""

    def attempt(function: Callable[[], Any]) -> Any:
        try:
            return function()
        except (AssertionError, RuntimeError) as error:
            return type(error).__name__, str(error)

    Key = t._C.DispatchKey
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("cube(Tensor x) -> Tensor")
        lib.impl("cube", lambda x: x * x * x, "CPU")
        op = t.ops.testlib.cube.default
        before = op.decompose(t.ones(1)), op.has_kernel_for_dispatch_key(Key.CompositeImplicitAutograd)
        returned = op.py_impl(Key.CompositeImplicitAutograd)(abs) is abs
        op.py_impl(t.Tensor)(abs)
        return (
            before,
            returned,
            op.has_kernel_for_dispatch_key(Key.CompositeImplicitAutograd),
            op.decompose(t.tensor([-2.0])).tolist(),
            op(t.tensor([-2.0])).tolist(),  # a call does not look there
            list(op.python_key_table) == [t.Tensor],
            attempt(lambda: op.py_impl(Key.CompositeImplicitAutograd)(abs)),
            attempt(lambda: op.py_impl(Key.Python)(abs)),
            attempt(lambda: op.py_impl("CPU")(abs)),
            attempt(lambda: op.py_impl(t.Tensor)(abs))[0],
            t.ops.aten.matmul.default.decompose(t.eye(2), t.ones(2)).tolist(),
            t.ops.aten.mm.default.decompose(t.eye(2), t.eye(2)),
        )


def test_functions_noted_beside_kernels(real_torch: Any) -> None:
    assert _noted_functions(reftorch) == asked(real_torch, _noted_functions)
