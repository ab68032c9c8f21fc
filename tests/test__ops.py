"""torch.ops.aten: ops by the names of their schemas.

Mirrors: test/test_ops.py, test/test_custom_ops.py (what they ask of torch.ops.aten)
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from reftorch._overload_names import in_torch
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
        there = in_torch(f"aten::{name}", overload)
        found = getattr(getattr(reftorch.ops.aten, name), there or "default")
        assert found.name() == ".".join(filter(None, (f"aten::{name}", there))) and callable(found)
        assert found._name_in_cpp == entry["name"]


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


UNFIT: dict[str, Callable[[Any], Any]] = {
    "missing": lambda t: t.ops.aten.add.Tensor(t.ones(1)),
    "too many": lambda t: t.ops.aten.add.Tensor(t.ones(1), t.ones(1), 1, 2),
    "too many by place": lambda t: t.ops.aten.add.Tensor(t.ones(1), t.ones(1), 1),
    "unknown": lambda t: t.ops.aten.add.Tensor(t.ones(1), t.ones(1), beta=1),
    "wrong type": lambda t: t.ops.aten.add.Tensor(t.ones(1), "a"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_arguments_that_do_not_fit_an_overload(name: str, real_torch: Any) -> None:
    def lines(t: Any) -> list[str]:
        with pytest.raises(RuntimeError) as raised:
            UNFIT[name](t)
        return [line for line in str(raised.value).splitlines() if not line.startswith("Cast error details")]

    assert lines(reftorch) == lines(real_torch)


def test_a_packet_lists_why_no_overload_fits() -> None:
    with pytest.raises(RuntimeError, match=r"failed to match any schema:\s+aten::relu\(\) expected at most 1 argument"):
        reftorch.ops.aten.relu(reftorch.ones(1), 1)


def test_a_type_error_of_a_kernel_is_left_as_it_is() -> None:
    @reftorch.library.custom_op("unfit::raises", mutates_args=())
    def raises(x: reftorch.Tensor) -> reftorch.Tensor:
        raise TypeError("raises(): argument 'x' (position 1) is not to my taste")

    with pytest.raises(TypeError, match="not to my taste"):
        raises(reftorch.ones(1))
    with pytest.raises(RuntimeError, match=r"unfit::raises\(\) is missing value for argument 'x'\. Declaration: "):
        raises()


@pytest.mark.parametrize("namespace", ["aten", "prims"])
def test_a_namespace_of_cpp_is_not_defined_again(namespace: str) -> None:
    with pytest.raises(
        RuntimeError, match=f"Only a single TORCH_LIBRARY can be used to register the namespace {namespace};"
    ):
        reftorch.library.Library(namespace, "DEF")
    reftorch.library.Library(namespace, "FRAGMENT")._destroy()
