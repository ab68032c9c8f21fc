"""The functions `_dispatch_*` print an op's table and say where each row comes from.

Mirrors: test/test_dispatch.py
"""

import re
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from tests.answers.watched import asked

_C = torch._C


def line_at(file: str, line: int) -> str:
    return Path(file).read_text().split("\n")[line - 1]


def test_a_table_says_what_fills_each_row_and_where_it_was_registered() -> None:
    table = _C._dispatch_dump_table("aten::exp")
    cpu = re.search(r"^CPU: registered at (.+/native/UnaryOps\.cpp):(\d+) \[kernel\]$", table, re.MULTILINE)
    assert cpu is not None, table
    assert '"exp(Tensor self) -> Tensor"' in line_at(cpu[1], int(cpu[2]))
    stub = re.search(r"^  exp_stub: exp_kernel registered at (.+UnaryOpsFloatKernel\.cpp):(\d+)$", table, re.MULTILINE)
    assert stub is not None, table
    assert line_at(stub[1], int(stub[2])) == ('REGISTER_CPU_ELEMENTWISE(exp_stub, exp_kernel, ExpFunctor, "exp_cpu")')
    assert re.search(r"^Autograd: registered at .+ \[backend fallback\]$", table, re.MULTILINE)


def test_a_composite_fills_every_row_with_its_own_function() -> None:
    table = _C._dispatch_dump_table("aten::square")
    assert re.search(r"^CPU: registered at .+UnaryOps\.cpp:\d+ \[math kernel\]$", table, re.MULTILINE)
    assert re.search(r"^Autograd: registered at .+UnaryOps\.cpp:\d+ \[math kernel\]$", table, re.MULTILINE)


def test_dump_tells_what_was_registered() -> None:
    state = _C._dispatch_dump("aten::square")
    assert state.startswith("name: aten::square\nschema: aten::square(Tensor self) -> Tensor\ndebug: registered at ")
    assert re.search(r"CompositeImplicitAutograd\[alias\]: registered at .+ :: square \[ boxed unboxed \]", state)


@pytest.mark.parametrize("op", ["aten::exp", "aten::square", "aten::add.Tensor"])
@pytest.mark.parametrize("key", ["CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_has_kernel_for_dispatch_key_equals_torch(op: str, key: str, real_torch: Any) -> None:
    theirs = asked(real_torch, lambda lib: lib._C._dispatch_has_kernel_for_dispatch_key(op, key))
    assert _C._dispatch_has_kernel_for_dispatch_key(op, key) == theirs


def test_an_unknown_key_is_refused_with_the_words_of_torch(real_torch: Any) -> None:
    def program(lib: Any) -> None:
        with pytest.raises(RuntimeError, match="could not parse dispatch key: Foo"):
            lib._C._dispatch_has_kernel_for_dispatch_key("aten::exp", "Foo")

    program(torch)
    asked(real_torch, program)


def test_an_unknown_op_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Could not find schema for aten::expp"):
        _C._dispatch_dump_table("aten::expp")


def test_all_op_names_and_those_of_one_key() -> None:
    names = _C._dispatch_get_all_op_names()
    assert "aten::add.Tensor" in names
    composites = _C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    assert "aten::square" in composites
    assert "aten::exp" not in composites
    assert set(composites) < set(names)


def test_keys_of_a_tensor() -> None:
    keys = _C._dispatch_keys(torch.ones(2))
    assert keys.has(_C.DispatchKey.CPU)
    assert keys.has(_C.DispatchKey.Autograd)
    assert not keys.has(_C.DispatchKey.CUDA)
    assert repr(keys) == "DispatchKeySet(CPU, Autograd)"
    assert _C._dispatch_key_for_device("cuda:1") == "CUDA"
    assert _C._dispatch_is_alias_key(_C.DispatchKey.CompositeExplicitAutograd)
    assert not _C._dispatch_is_alias_key(_C.DispatchKey.CPU)


SHARED_TAGS = (
    "data_dependent_output",
    "dynamic_output_shape",
    "inplace_view",
    "nondeterministic_seeded",
    "pointwise",
    "view_copy",
)


def test_tags_equal_those_of_torch(real_torch: Any) -> None:
    def tags_of(lib: Any, name: str) -> set[str]:
        base, _, overload = name.removeprefix("aten::").partition(".")
        op = getattr(getattr(lib.ops.aten, base), overload or "default")
        return {str(tag).removeprefix("Tag.") for tag in op.tags} & set(SHARED_TAGS)

    differ = {}
    for schema in _C._get_all_op_schemas():
        name = schema["name"]
        try:
            theirs = tags_of(real_torch, name)
        except AttributeError:
            continue  # an overload that torch does not have
        is_form = schema["functional"] is not None or schema["alias_of"] is not None
        if not is_form and tags_of(torch, name) != theirs:
            differ[name] = (tags_of(torch, name), theirs)
    assert differ == {}


def test_forms_know_the_op_that_they_belong_to() -> None:
    functional = {schema["name"]: schema["functional"] for schema in _C._get_all_op_schemas()}
    assert functional["aten::add_.Tensor"] == "aten::add.Tensor"
    assert functional["aten::square_"] == "aten::square"  # written by hand
    assert functional["aten::square.out"] == "aten::square"
    assert functional["aten::square"] is None


def test_an_op_is_refused_for_a_backend_that_it_has_no_kernel_for() -> None:
    x = torch.ones(3, device="meta")
    with pytest.raises(
        NotImplementedError, match=r"Could not run 'aten::nonzero' with arguments from the 'Meta' backend"
    ) as error:
        torch.nonzero(x)
    assert "'aten::nonzero' is only available for these backends: [CPU, " in str(error.value)
    assert re.search(r"\nCPU: registered at .+TensorAdvancedIndexing\.cpp:\d+ \[kernel\]\n", str(error.value))


@pytest.mark.parametrize("op", ["aten::detach", "aten::detach_"])
def test_detach_is_no_composite_but_has_a_kernel_for_autograd(op: str) -> None:
    assert not _C._dispatch_has_kernel_for_dispatch_key(op, "CompositeImplicitAutograd")
    assert _C._dispatch_has_kernel_for_dispatch_key(op, "CompositeExplicitAutograd")
    assert _C._dispatch_has_kernel_for_dispatch_key(op, "Autograd")
