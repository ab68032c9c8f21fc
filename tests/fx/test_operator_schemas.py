"""Signatures of ops and modules, and normalized arguments.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

import inspect
import numbers
import typing
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from reftorch.fx import operator_schemas
from tests.answers.watched import asked


def schemas(library: ModuleType) -> Any:
    return __import__(f"{library.__name__}.fx.operator_schemas", fromlist=["normalize_function"])


@pytest.mark.parametrize("name", ["relu.default", "add.Tensor", "sum.dim_IntList", "clamp.default", "cat.default"])
def test_signatures_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        packet, overload = name.split(".")
        op = getattr(getattr(library.ops.aten, packet), overload)
        [signature] = schemas(library).get_signature_for_torch_op(op)
        kinds = [(p.name, p.kind, p.default is inspect.Parameter.empty) for p in signature.parameters.values()]
        types = [str(p.annotation).replace("reftorch", "torch") for p in signature.parameters.values()]
        found.append((kinds, [t.replace("typing.List", "list").replace("List", "list") for t in types]))
    assert found[0][0] == noted(found[1][0])


def test_arguments_of_functions_and_ops(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        normalize = schemas(library).normalize_function
        F, x = library.nn.functional, object()
        pairs = [
            normalize(F.softmax, (x, 1)),
            normalize(F.layer_norm, (x, (3,)), {"eps": 1.0}, normalize_to_only_use_kwargs=True),
            normalize(library.ops.aten.relu.default, (x,), normalize_to_only_use_kwargs=True),
            normalize(library.ops.aten.add.Tensor, (x, x), {"alpha": 2}, normalize_to_only_use_kwargs=True),
            normalize(library.ops.aten.sum.dim_IntList, (x, [1])),
        ]
        found.append([(len(pair.args), {k: v for k, v in pair.kwargs.items() if v is not x}) for pair in pairs])
    assert found[0] == noted(found[1])


def test_types_choose_the_overload() -> None:
    x, gt = reftorch.ones(2), reftorch.ops.aten.gt
    with pytest.raises(RuntimeError, match="the schema match was ambiguous"):
        operator_schemas.normalize_function(gt, (x, 1))
    for other in (reftorch.Tensor, int):
        pair = operator_schemas.normalize_function(
            gt, (x, 1), arg_types=(reftorch.Tensor, other), normalize_to_only_use_kwargs=True
        )
        assert pair is not None and pair.kwargs == {"input": x, "other": 1}
    assert operator_schemas.normalize_function(gt, (x, 1), arg_types=(str, str)) is None
    assert operator_schemas.normalize_function(reftorch.relu, (x, 1, 2)) is None
    assert operator_schemas.get_signature_for_torch_op(len) is None


def test_modules_and_nodes(real_torch: ModuleType) -> None:
    def program(library: Any) -> None:
        class Own(library.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x):  # type: ignore[no-untyped-def]
                return x

        net = library.nn.Sequential(library.nn.LayerNorm(2), Own())
        normalize = schemas(library).normalize_module
        assert normalize(net, "0", (1,), normalize_to_only_use_kwargs=True).kwargs == {"input": 1}
        assert normalize(net, "1", (1,)) is None
        with pytest.raises(RuntimeError, match="root did not have that target"):
            normalize(net, "2", (1,))
        traced = library.fx.symbolic_trace(net)
        node = traced.graph.find_nodes(op="call_module", target="0")[0]
        assert node.normalized_arguments(traced).args == node.args
        assert traced.graph.output_node().normalized_arguments(traced) is None

    program(reftorch)
    asked(real_torch, program)


def test_types_fit_as_in_torch(real_torch: ModuleType, noted: Any) -> None:
    pairs: list[Any] = [
        (int, int),
        (int, float),
        (typing.Optional[int], int),  # noqa: UP045
        (typing.Union[int, str], str),  # noqa: UP007
        (typing.List[int], typing.List[int]),  # noqa: UP006
        (typing.List[int], typing.List[str]),  # noqa: UP006
        (typing.List[int], tuple[int, int]),  # noqa: UP006
        (typing.List[int], tuple[str, ...]),  # noqa: UP006
        (typing.List[int], int),  # noqa: UP006
        (numbers.Number, float),
        (numbers.Number, str),
        (object, int),
    ]
    theirs = schemas(real_torch)
    for signature, argument in pairs:
        expected = noted(theirs.type_matches(signature, argument))
        assert operator_schemas.type_matches(signature, argument) == expected, (signature, argument)
    assert operator_schemas.type_matches(int, reftorch.dtype) is True
    with pytest.warns(UserWarning, match="Does not support nested parametric types"):
        operator_schemas.type_matches(list[list[int]], list[int])


def test_type_hints_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    for hint in ([int, int], [int, str], [], (int, bool), (bool, int), float, [int, object]):
        theirs = schemas(real_torch).create_type_hint(hint)
        noted(str(theirs))
        assert operator_schemas.create_type_hint(hint) == theirs


def test_reading_ops_is_no_mutation() -> None:
    x = reftorch.ones(1)
    operator_schemas.check_for_mutable_operation(reftorch.ops.aten.relu.default, (x,), {})
    operator_schemas.check_for_mutable_operation(len, (x,), {})
    with pytest.raises(RuntimeError, match="Tried to trace mutable operation"):
        operator_schemas.check_for_mutable_operation(reftorch.ops.aten.add_.Tensor, (x, x), {})
    assert fx.symbolic_trace(nn.ReLU()) is not None
