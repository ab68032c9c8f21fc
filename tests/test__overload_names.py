"""Overloads have the names that PyTorch's native_functions.yaml gives them.

Mirrors: nothing in PyTorch, where there is one list of names
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import _overload_names
from reftorch._ops import parse_schema
from reftorch.utils._python_dispatch import TorchDispatchMode

# Overloads that PyTorch lacks: there, these calls go to another overload, or there is none with out=.
OURS_ALONE = {"arange.start_step_out", "divide.Scalar_out", "multiply.Scalar_out", "subtract.Scalar_out"}


def own_ops() -> list[str]:
    names = (op["name"].partition(".")[0] for op in reftorch._C._get_all_op_schemas())
    return sorted({name.removeprefix("aten::") for name in names if name.startswith("aten::")})


def test_each_overload_has_the_name_that_it_has_in_torch(real_torch: ModuleType) -> None:
    theirs: dict[str, set[str]] = {}
    for schema in real_torch._C._jit_get_all_schemas():
        op, _, _ = str(schema).partition("(")
        name, _, overload = op.removeprefix("aten::").partition(".")
        theirs.setdefault(name, set()).add(overload or "default")
    strange = []
    for op in own_ops():
        for overload in getattr(reftorch.ops.aten, op).overloads() if op in theirs else ():
            if overload not in theirs[op] and f"{op}.{overload}" not in OURS_ALONE:
                strange.append(f"{op}.{overload}")
    assert not strange


def test_each_name_of_the_table_is_an_overload() -> None:
    for op, names in _overload_names._IN_TORCH.items():
        packet = getattr(reftorch.ops.aten, op.removeprefix("aten::"))
        for here, there in names.items():
            found = getattr(packet, there)
            assert there in packet.overloads() and found._overloadname == there
            assert found._name_in_cpp == (op if here == "default" else f"{op}.{here}")
            assert str(found._schema).startswith(op if there == "default" else f"{op}.{there}(")


CALLS: dict[str, Any] = {
    "add.out": lambda t: t.add(t.ones(2), t.ones(2), out=t.empty(2)),
    "max.dim_max": lambda t: t.max(t.eye(2), 0, out=(t.empty(2), t.empty(2, dtype=t.long))),
    "sort.values": lambda t: t.sort(t.ones(2), out=(t.empty(2), t.empty(2, dtype=t.long))),
    "all.out": lambda t: t.all(t.eye(2).bool(), 0, out=t.empty(2, dtype=t.bool)),
    "pow_.Scalar": lambda t: t.ones(2).pow_(2),
    "floor_divide_.Tensor": lambda t: t.ones(2).floor_divide_(t.ones(2)),
    "empty.memory_format": lambda t: t.empty(2),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_mode_sees_the_name_of_torch(name: str) -> None:
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Log():
        CALLS[name](reftorch)
    assert f"aten.{name}" in seen


def test_kernels_are_registered_by_the_name_of_torch() -> None:
    library = reftorch.library.Library("aten", "IMPL")
    library.impl("mul.out", lambda x, y, *, out: out.fill_(7), "CPU")
    try:
        assert reftorch.mul(reftorch.ones(1), reftorch.ones(1), out=reftorch.empty(1)).tolist() == [7.0]
    finally:
        library._destroy()
    assert parse_schema("aten::f(Tensor x) -> Tensor").name == "aten::f"
