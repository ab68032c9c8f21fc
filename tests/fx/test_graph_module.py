"""Modules made from graphs: their code has a file and lines, they are copied, pickled and written to folders.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import linecache
import pdb
import pickle
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from tests.fx import both

MODELS = both.load("models", reftorch)


class Fails(nn.Module):
    def forward(self, x):  # type: ignore[no-untyped-def]
        x = x + 1
        return reftorch.mm(x, x)  # the line that fails


class FailsBelow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.fc(x)  # the line that calls what fails


def test_generated_code_has_a_file_and_lines() -> None:
    traced = fx.symbolic_trace(Fails())
    code = traced.forward.__code__
    assert code.co_filename.startswith("<<eval_with_key>.")
    assert code.co_filename.endswith(f" from {__file__}:{Fails.forward.__code__.co_firstlineno} in forward>")
    linecache.checkcache()
    assert linecache.getlines(code.co_filename) == traced.code.splitlines(keepends=True)
    assert inspect.getsource(traced.forward).strip() == traced.code.strip()
    assert inspect.getsourcelines(traced.forward)[1] == traced._prologue_start


def test_an_error_names_the_line_of_forward(capsys: pytest.CaptureFixture[str]) -> None:
    traced = fx.symbolic_trace(Fails())
    with pytest.raises(RuntimeError) as error:
        traced(reftorch.ones(2, 3))
    printed = capsys.readouterr().err
    assert "Call using an FX-traced Module, line 6 of the traced Module's generated forward function:" in printed
    assert "mm = torch.mm(add, add);  add = None\n\n~~~" in printed
    [note] = error.value.__notes__
    line = Fails.forward.__code__.co_firstlineno + 2
    assert note.split("\n") == [
        "While executing %mm : [num_users=1] = call_function[target=torch.mm](args = (%add, %add), kwargs = {})",
        f'Traced from File "{__file__}", line {line}, in forward',
        "    return reftorch.mm(x, x)  # the line that fails",
    ]


def test_an_error_below_names_the_line_and_keeps_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    traced = fx.symbolic_trace(FailsBelow())
    with pytest.raises(RuntimeError) as error:
        traced(reftorch.ones(2, 2))
    assert error.value.__notes__[0].endswith("    return self.fc(x)  # the line that calls what fails")
    shown = "".join(traceback.format_exception(error.value))
    assert "fc = self.fc(x);  x = None" in shown and "in forward" in shown
    assert capsys.readouterr().err == ""


def test_pdb_shows_generated_code() -> None:
    traced = fx.symbolic_trace(Fails())
    with traced.graph.on_generate_code(lambda _: lambda body: ["import pdb; debugger.set_trace()\n", *body]):
        traced.recompile()
    out = io.StringIO()
    # From Python 3.13 on pdb stops in line 5, which calls set_trace. Before, it stopped in the line after, and there
    # pdb refuses `until 6` and goes on to the next command.
    commands = "\n".join(["until 6", "list", "next", "next", "p mm.shape", "where", "continue", ""])
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    traced.forward.__func__.__globals__["debugger"] = debugger
    trace = sys.gettrace()
    try:
        traced(reftorch.ones(2, 2))
    finally:
        sys.settrace(trace)
    shown = out.getvalue()
    assert "->\t    add = x + 1;  x = None" in shown
    assert "mm = torch.mm(add, add)" in shown and "torch.Size([2, 2])" in shown
    assert f"from {__file__}" in shown


def test_copies_and_pickles_compute_the_same() -> None:
    for name in ("GPT", "ConcreteArgs", "Constants", "Wrapped", "CustomTracer"):
        traced = MODELS.trace(name, MODELS.MODELS[name][0]().eval())
        traced.meta["note"] = [1]
        inputs = both.to_tensors(MODELS.example_inputs(name), reftorch)
        expected = both.tensors_in(traced(*inputs))
        assert copy.deepcopy(traced).meta == {"note": [1]}
        for copied in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
            assert type(copied) is not type(traced) and type(copied).__name__ == type(traced).__name__
            # Unpickling traces the code that flattens the arguments, as torch does.
            assert copied.code == traced.code or name == "ConcreteArgs"
            assert copied.training is False
            found = both.tensors_in(copied(*inputs))
            assert all(reftorch.equal(a, b) for a, b in zip(found, expected, strict=True))
            for a, b in zip(copied.parameters(), traced.parameters(), strict=True):
                assert a is not b


def test_a_copy_refers_to_its_own_nodes() -> None:
    traced = fx.symbolic_trace(lambda x: x + 1)
    traced.meta["chosen"] = {"node": traced.graph.output_node()}
    copied = copy.deepcopy(traced)
    assert copied.meta["chosen"]["node"] is copied.graph.output_node()
    assert traced.meta["chosen"]["node"] is traced.graph.output_node()


def test_a_copy_keeps_hooks_of_the_state_dict() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    traced._register_state_dict_hook(lambda module, state, prefix, metadata: state.__delitem__("0.bias"))
    assert list(copy.deepcopy(traced).state_dict()) == ["0.weight"]


def test_hooks_run() -> None:
    traced = fx.symbolic_trace(Fails())
    seen: list[str] = []
    traced.register_forward_pre_hook(lambda module, args: seen.append("before"))
    traced.register_forward_hook(lambda module, args, out: seen.append("after"))
    traced.recompile()
    traced(reftorch.ones(2, 2))
    assert seen == ["before", "after"]


def test_hooks_of_changes() -> None:
    traced = fx.symbolic_trace(lambda x: (x + 1) * 2)
    seen: list[Any] = []
    traced._register_create_node_hook(lambda node: seen.append(("create", node.name)))
    traced._register_erase_node_hook(lambda node: seen.append(("erase", node.name)))
    add = traced.graph.find_nodes(op="call_function", target=__import__("operator").add)[0]
    with traced._set_replace_hook(lambda old, new, user: seen.append((old.name, new, user.name))):
        with traced.graph.inserting_before(add):
            neg = traced.graph.call_method("neg", (add.args[0],))
        add.replace_all_uses_with(neg)
        traced.graph.erase_node(add)
    assert seen == [("create", "neg"), ("add", "neg", "mul"), ("erase", "add")]
    copies: list[Any] = []
    traced._register_deepcopy_hook(copies.append)
    copied = copy.deepcopy(traced)
    assert copies == [copied]


def test_a_folder_is_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = MODELS.TransformerLayer()
    traced = fx.symbolic_trace(module)
    with pytest.warns(UserWarning, match="Was not able to save the following children modules as reprs"):
        traced.to_folder(tmp_path / "traced_layer", "Layer")
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("traced_layer")
    loaded = package.Layer()
    x = reftorch.ones(1, 5, 8)
    assert reftorch.equal(loaded(x), module(x))
    assert inspect.getsourcefile(package.Layer.forward) == str(tmp_path / "traced_layer" / "module.py")


def test_submodules(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        first = library.nn.Sequential(library.nn.ReLU(), library.nn.Tanh())
        traced = library.fx.symbolic_trace(library.nn.Sequential(first, library.nn.Linear(1, 1)))
        assert traced.add_submodule("a.b.c", library.nn.ReLU()) is True
        assert traced.add_submodule("1.weight.c", library.nn.ReLU()) is False
        assert traced.delete_submodule("a.missing") is False
        assert traced.delete_submodule("1.weight") is False
        traced.graph.erase_node(traced.graph.output_node())
        traced.graph.erase_node(traced.graph.find_nodes(op="call_module", target="1")[0])
        traced.delete_all_unused_submodules()
        names = [name for name, _ in traced.named_modules()]
        assert names == ["", "0", "0.0", "0.1"]


def test_a_dict_can_be_the_root(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        graph = library.fx.Graph()
        x = graph.placeholder("x")
        y = graph.call_module("layers.0", (x,))
        z = graph.get_attr("layers.0.weight")
        graph.output((y, z))
        linear = library.nn.Linear(2, 2)
        module = library.fx.GraphModule({"layers.0": linear, "layers.0.weight": linear.weight}, graph, "Made")
        assert type(module).__name__ == "Made" and module.layers.get_submodule("0") is linear
        with pytest.raises(RuntimeError, match=r"referenced target layers\.0 but that target was not provided"):
            library.fx.GraphModule({}, graph)
        with pytest.raises(RuntimeError, match="Unsupported type 1 passed for root!"):
            library.fx.GraphModule(1, graph)


def test_a_subclass_may_define_call() -> None:
    class Doubles(fx.GraphModule):
        def __call__(self, *args: Any) -> Any:
            return 2 * super().__call__(*args)

    graph = fx.symbolic_trace(lambda x: x + 1).graph
    module = Doubles(nn.Module(), graph)
    assert module(1) == 4 and copy.deepcopy(module)(1) == 4
    module.recompile()
    assert module(1) == 4


def test_retracing_gives_the_same_code() -> None:
    for name in ("TransformerLayer", "Structures", "Operators"):
        traced = MODELS.trace(name, MODELS.MODELS[name][0]())

        class Keep(fx.Tracer):
            def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
                return True

        again = fx.GraphModule(traced, Keep().trace(traced))
        assert again.code == traced.code


def test_code_of_submodules_is_readable(real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for library in (reftorch, real_torch):
        inner = library.fx.symbolic_trace(lambda x: x.relu())
        graph = library.fx.Graph()
        graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
        outer = library.fx.GraphModule({"inner": inner}, graph)
        texts.append(outer.print_readable(print_output=False))
        assert str(outer).endswith("# To see more debug info, please use `graph_module.print_readable()`")
    assert both.plain(texts[0]) == noted(both.plain(texts[1]))
