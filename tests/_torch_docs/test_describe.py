"""Every public op has words, they say what the house asks of a docstring, and their examples hold, here and in torch.

Mirrors: test/test_public_bindings.py, test/test_docs_coverage.py
"""

import doctest
import inspect
import operator
import pydoc
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import reftorch
from reftorch._torch_docs import _describe, _entries
from reftorch._torch_docs._entries import ENTRIES

SPACES = (reftorch._C._VariableFunctions, reftorch._C.TensorBase, reftorch._C._nn, reftorch._C._linalg,
          reftorch._C._special)  # fmt: skip
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def packets() -> Iterator[tuple[str, Any]]:
    """Every op by name, once as each of function, method, and native function of nn and linalg."""
    for space in SPACES:
        for name, value in sorted(vars(space).items()):
            if type(value).__name__ in ("OpFunction", "OpMethod"):
                yield name, value


PACKETS = list(packets())


def test_every_public_op_has_an_entry() -> None:
    missing = {
        f"{name}: give it one in reftorch/_torch_docs/, in the file of its family"
        for name, packet in PACKETS
        if not name.startswith("_") and _describe.text_of(name, packet.signatures()[0]["alias_of"]) is None
    }
    assert not missing, "\n".join(sorted(missing))


def test_no_entry_is_for_an_op_that_does_not_exist() -> None:
    unknown = sorted(set(ENTRIES) - {name for name, _ in PACKETS})
    assert not unknown, f"entries in reftorch/_torch_docs for what is no op: {unknown}"


def test_an_op_has_one_entry() -> None:
    with pytest.raises(ValueError, match="'sin' has a text"):
        _entries.add_docstr("sin", "Return the sine.")


def complaints(check: Callable[[str, str], str]) -> str:
    """A line for each entry that ``check`` has something to say of."""
    return "\n".join(f"{name}: {said}" for name, text in ENTRIES.items() if (said := check(name, text)))


def wrong_form(name: str, text: str) -> str:
    first = re.match(r"(?:.+\n)+", text)
    if first is None or not first[0].rstrip().endswith("."):
        return "the first paragraph is no sentence"
    sections = re.findall(r"^(\w+):", text, re.M)
    if sections != [section for section in ("Args", "Shape", "Raises", "Example") if section in sections]:
        return f"sections {sections}: expected Args, Shape, Raises, Example in this order"
    if "\nShape: " not in text or "\nExample:\n    >>> " not in text:
        return "no Shape or no Example"
    return ""


def test_an_entry_says_meaning_shape_and_example() -> None:
    assert complaints(wrong_form) == ""
    assert wrong_form("f", "Does it.\n\nShape: any.\n\nExample:\n    >>> f()\n") == ""
    assert "sentence" in wrong_form("f", "Does it\n") and "no Shape" in wrong_form("f", "Does it.\n")
    assert "order" in wrong_form("f", "Does it.\n\nExample:\n    >>> f()\n\nShape: any.\n")


def unknown_parameters(name: str, text: str) -> str:
    forms = [form for other, packet in PACKETS if other == name for form in packet.signatures()]
    known = {parameter["name"] for form in forms for parameter in form["parameters"]}
    known |= {"requires_grad"} if any(form["requires_grad"] for form in forms) else set()
    named = set(re.findall(r"^    (\w+):", text.partition("Args:\n")[2].partition("\n\n")[0], re.M))
    return f"has no parameter {sorted(named - known)}, but {sorted(known)}" if named - known else ""


def test_an_entry_names_parameters_that_exist() -> None:
    assert complaints(unknown_parameters) == ""
    assert "['odd']" in unknown_parameters("sin", "Args:\n    odd: no such thing.\n\nShape: any.\n")


def run_example(name: str, text: str, library: Any) -> str:
    """What fails when the example is run with ``torch`` meaning ``library``; empty where nothing does."""
    test = doctest.DocTestParser().get_doctest(text, {"torch": library}, name, None, None)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is deprecated, or called beta
        doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=said.append)
    return "".join(said)


def test_the_examples_hold() -> None:
    assert complaints(lambda name, text: run_example(name, text, reftorch)) == ""
    assert "Got" in run_example("f", ">>> torch.ones(1)\ntensor([2.])\n", reftorch)


# Ops that run on the CPU here and in torch on GPUs only.
OF_GPUS_IN_TORCH = {
    "_thnn_fused_lstm_cell",
    "_thnn_fused_lstm_cell_backward",
    "batch_norm_backward_elemt",
    "batch_norm_backward_reduce",
    "batch_norm_elemt",
    "batch_norm_gather_stats",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
}


class FirstOf:
    """What the first of several objects has that has it."""

    def __init__(self, *places: Any) -> None:
        self.places = places

    def __getattr__(self, name: str) -> Any:
        place = next((place for place in self.places if hasattr(place, name)), self.places[0])
        return getattr(place, name)


def test_the_examples_hold_in_torch(real_torch: ModuleType) -> None:
    aten = real_torch.ops.aten  # where torch has what is no public function there
    library = FirstOf(real_torch, aten)
    library._C = SimpleNamespace(  # type: ignore[attr-defined]
        _nn=FirstOf(real_torch._C._nn, aten), _VariableFunctions=real_torch._C._VariableFunctions
    )
    assert complaints(lambda name, text: "" if name in OF_GPUS_IN_TORCH else run_example(name, text, library)) == ""


# --- what is made of the entries --------------------------------------------------------------------------------------


def test_in_place_forms_and_second_names_have_the_words_of_their_op() -> None:
    assert torch_doc("sin_").startswith("sin_(input: Tensor) -> Tensor\n\nIn-place version of :func:`torch.sin`")
    assert "Another name of :func:`torch.mul`.\n\nMultiply" in torch_doc("multiply")
    assert "Another name of :func:`torch.mul_`.\n\nIn-place version of :func:`torch.mul`" in torch_doc("multiply_")


def test_what_many_ops_take_is_said_of_each() -> None:
    device = (
        "device: the device of the result.\n"
        "    requires_grad: whether autograd records the operations on the result.\n\nShape"
    )
    assert f"symmetric.\n    dtype: the dtype of the result.\n    {device}" in torch_doc("hann_window")
    assert f"default dtype.\n\nArgs:\n    dtype: the dtype of the result.\n    {device}" in torch_doc("scalar_tensor")
    assert torch_doc("sum").count("dtype: the dtype of the computation") == torch_doc("sum").count("\n    dtype: ") == 1


def torch_doc(name: str) -> str:
    return getattr(reftorch, name).__doc__


def test_a_docstring_has_calls_words_place_and_schemas() -> None:
    assert torch_doc("max").startswith(
        "max(input: Tensor, *, out: Tensor | None = None) -> Tensor\nmax(input: Tensor, "
    )
    assert "keepdim: bool = False, *, out: Sequence[Tensor] | None = None) -> (values, indices)\n" in torch_doc("max")
    assert "zeros(*size: int, dtype: dtype | None = None, " in torch_doc("zeros")
    assert "\nMirrors aten/src/ATen/native/BinaryOps.cpp; registered in cpp/ATen/native/BinaryOps.cpp.\n" in torch_doc(
        "add"
    )
    assert "\nSchemas:\n    aten::sin(Tensor self) -> Tensor\n" in torch_doc("sin")
    assert "Registered in" in _describe._place("/elsewhere/cpp/ATen/native/Nowhere.cpp")


def test_a_methods_docstring_has_its_own_signature() -> None:
    text = reftorch.Tensor.add.__doc__
    assert text.startswith("add(other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor\n")
    assert "As a method, ``input`` is the tensor itself." in text


def test_signatures_are_those_of_the_parser() -> None:
    x = reftorch.ones(2)
    assert str(inspect.signature(reftorch.add)) == "(input, other, *, alpha=1, out=None)"
    assert str(inspect.signature(reftorch.Tensor.add)) == "(self, other, *, alpha=1, out=None)"
    assert str(inspect.signature(x.add)) == "(other, *, alpha=1, out=None)"
    assert str(inspect.signature(x.uniform_)) == "(from_=0.0, to=1.0, *, generator=None)"
    assert inspect.signature(reftorch.zeros).parameters["requires_grad"].default is False
    assert inspect.signature(x.contiguous).parameters["memory_format"].default is reftorch.contiguous_format
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(reftorch.max)


def test_ops_are_routines_and_functions_bind_to_nothing() -> None:
    class Layer:
        activation = reftorch.relu

    assert inspect.isroutine(reftorch.add) and inspect.isroutine(reftorch.Tensor.add)
    assert Layer().activation is reftorch.relu and Layer.activation is reftorch.relu
    assert Layer().activation(reftorch.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]
    assert "sin(input, *, out=None)\n    sin(input: Tensor," in pydoc.plain(pydoc.render_doc(reftorch.sin))


def test_import_does_not_read_the_texts() -> None:
    program = "import sys, reftorch; print([name for name in sys.modules if '_torch_docs.' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_walk_over_the_names_may_ask_for_docstrings() -> None:
    program = "import reftorch; print(all(value.__doc__ for name, value in vars(reftorch).items() if name == 'add'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr  # no 'dictionary changed size during iteration'


# --- docstrings written in C++ ----------------------------------------------------------------------------------------

WITH_EXAMPLE = ("Size", "dtype", "device", "tensor", "from_numpy", "finfo", "iinfo", "Generator")
METHODS_WITH_EXAMPLE = ("item", "tolist", "numpy", "size", "stride")


@pytest.mark.parametrize("name", WITH_EXAMPLE + tuple(f"Tensor.{method}" for method in METHODS_WITH_EXAMPLE))
def test_examples_of_what_is_written_in_cpp_hold(name: str) -> None:
    value = operator.attrgetter(name)(reftorch)
    assert ">>> " in value.__doc__
    assert run_example(name, inspect.getdoc(value) or "", reftorch) == ""


@pytest.mark.parametrize(
    "name", ["Size", "device", "finfo", "iinfo", "tensor", "from_numpy", "Tensor.size", "Tensor.item"]
)
def test_what_is_written_in_cpp_has_a_signature(name: str) -> None:
    assert inspect.signature(operator.attrgetter(name)(reftorch)).parameters


def public_names(value: Any) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


@pytest.mark.parametrize("name", ["dtype", "device", "layout", "memory_format", "Size", "Tensor"])
def test_every_public_attribute_has_a_docstring(name: str) -> None:
    value = getattr(reftorch, name)
    inherited = public_names(tuple)
    assert value.__doc__
    silent = [attribute for attribute in public_names(value) - inherited if not getattr(value, attribute).__doc__]
    assert not silent, f"attributes of {name} without a docstring: {sorted(silent)}"
