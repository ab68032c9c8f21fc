"""Tracing: the graphs, the code and the results are those of torch on the modules of programs/models.py.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch import fx, nn
from tests.answers.watched import asked
from tests.fx import both

MODELS = both.load("models", reftorch)


def table(graph: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        graph.print_tabular()
    return out.getvalue()


@pytest.fixture
def real_models(real_torch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The models made with torch, whose ``print_tabular`` lays out its table with our function."""
    tabulate = ModuleType("tabulate")
    tabulate.tabulate = fx.graph._tabulate  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tabulate", tabulate)
    return both.load("models", real_torch)


def trained(models: ModuleType, name: str, module: Any, library: ModuleType) -> tuple[Any, list[Any], dict[str, Any]]:
    """Outputs, the gradients of the inputs, and those of the parameters, of one step."""
    inputs = both.to_tensors(models.example_inputs(name), library)
    outputs = module(*inputs)
    leaves = [t for t in both.tensors_in(inputs) if t.requires_grad]
    sum((t * t).sum() for t in both.tensors_in(outputs) if t.requires_grad).backward()  # type: ignore[union-attr]
    gradients = {n: p.grad for n, p in module.named_parameters() if p.grad is not None}
    return outputs, [t.grad for t in leaves if t.grad is not None], gradients


def assert_equal(ours: Any, theirs: Any, tolerance: float) -> None:
    ours, theirs = both.tensors_in(ours), both.tensors_in(theirs)
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(both.to_numpy(a), both.to_numpy(b), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_code_and_table_are_those_of_torch(name: str, real_models: ModuleType, noted: Any) -> None:
    ours = MODELS.trace(name, MODELS.MODELS[name][0]())
    theirs = real_models.trace(name, real_models.MODELS[name][0]())
    assert both.plain(ours.code) == noted(both.plain(theirs.code))
    assert both.plain(table(ours.graph)) == noted(both.plain(table(theirs.graph)))
    assert both.plain(str(ours.graph)) == noted(both.plain(str(theirs.graph)))
    readable = ours.print_readable(print_output=False)
    assert both.plain(readable) == noted(both.plain(theirs.print_readable(print_output=False)))


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_the_traced_module_computes_and_trains_as_torch_does(
    name: str, real_models: ModuleType, real_torch: ModuleType, noted: Any
) -> None:
    reftorch.manual_seed(18)
    ours, theirs = MODELS.MODELS[name][0](), real_models.MODELS[name][0]()
    both.copy_state(ours, theirs, real_torch)
    expected = trained(real_models, name, real_models.trace(name, theirs), real_torch)
    noted(both.to_numpy([both.tensors_in(part) for part in expected]))
    found = trained(MODELS, name, MODELS.trace(name, ours), reftorch)
    assert_equal(found[0], expected[0], 1e-5)
    if expected[1]:
        assert_equal(found[1], expected[1], 1e-4)
    assert found[2].keys() == expected[2].keys()
    if found[2]:
        assert_equal(found[2], expected[2], 1e-4)


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_the_traced_module_computes_what_the_module_computes(name: str) -> None:
    module = MODELS.MODELS[name][0]()
    traced = MODELS.trace(name, module)
    state = {key: value.clone() for key, value in module.state_dict().items()}
    expected = trained(MODELS, name, module, reftorch)
    module.zero_grad()
    module.load_state_dict(state)  # batch norm has moved its averages
    found = trained(MODELS, name, traced, reftorch)
    assert_equal(found[0], expected[0], 0)
    assert found[2].keys() == expected[2].keys()


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_two_traces_give_one_text(name: str) -> None:
    cls = MODELS.MODELS[name][0]
    assert MODELS.trace(name, cls()).code == MODELS.trace(name, cls()).code


ALL_TEXTS = """
import reftorch
from reftorch.fx.passes.split_module import split_module
from tests.fx import both

models = both.load("models", reftorch)
for name in models.MODELS:
    traced = models.trace(name, models.MODELS[name][0]())
    print(name, traced.code, both.plain(str(traced.graph)), sorted(map(str, traced.state_dict())))
    nodes = [node.name for node in traced.graph.nodes]
    split = split_module(traced, traced, lambda node: 2 * nodes.index(node.name) // len(nodes))
    print(split.code, *(part.code for part in split.children() if hasattr(part, "code")))
    traced.graph.eliminate_dead_code()
    print(both.plain(str(traced.graph)))
"""


def test_processes_that_hash_differently_give_one_text() -> None:
    """Python draws the hashes of strings anew in each process, and addresses differ. No text may depend on either."""
    texts = []
    for seed in ("0", "1", "2", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run([sys.executable, "-c", ALL_TEXTS], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert len(texts[0]) > 10_000
    assert texts.count(texts[0]) == len(texts)


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_tracing_leaves_the_module_as_it_was(name: str) -> None:
    module = MODELS.MODELS[name][0]()
    before = [(m, dict(m.__dict__)) for m in module.modules()]
    state = module.state_dict()
    functions = (nn.Module.__call__, nn.Module.__getattr__, math.sqrt, MODELS.branch)
    MODELS.trace(name, module)
    for m, attributes in before:
        assert attributes.keys() <= m.__dict__.keys()
        assert all(m.__dict__[key] is value for key, value in attributes.items())
        new = m.__dict__.keys() - attributes.keys()  # torch leaves constants at the root too
        assert all(key.startswith("_tensor_constant") for key in new)
    assert module.state_dict().keys() == state.keys()
    assert functions == (nn.Module.__call__, nn.Module.__getattr__, math.sqrt, MODELS.branch)


def test_an_error_in_the_program_leaves_everything_as_it_was() -> None:
    class Fails(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            if self.fc(x).sum() > 0:
                return x
            return -x

    module, call = Fails(), nn.Module.__call__
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(module)
    assert nn.Module.__call__ is call
    assert not fx._symbolic_trace.is_fx_tracing()
    assert "fc" in module._modules and "weight" in module.fc._parameters
    module(reftorch.ones(1, 2))


def test_a_trace_inside_a_trace() -> None:
    inner_module = nn.Sequential(nn.Linear(2, 2))
    codes = []

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(reftorch.ones(2))
            self.inner = inner_module

        def forward(self, x):  # type: ignore[no-untyped-def]
            codes.append(fx.symbolic_trace(inner_module).code)
            return self.inner(x) * self.weight

    traced = fx.symbolic_trace(Outer())
    assert codes[0] == fx.symbolic_trace(inner_module).code
    assert [node.op for node in traced.graph.nodes] == [
        "placeholder",
        "call_module",
        "get_attr",
        "call_function",
        "output",
    ]


def test_unpacking_says_how_many_items_there_are() -> None:
    names = [f"a{i}" for i in range(300)]
    space: dict[str, Any] = {}
    exec(f"def program(x):\n    {', '.join(names)} = x.split(1)\n    return a0 + a299\n", space)
    exec("def nested(x):\n    (a, b), [c] = x.f()\n    return a + b + c\n", space)
    graph = fx.symbolic_trace(space["program"]).graph
    assert [n.args[1] for n in graph.nodes if n.name.startswith("getitem")] == list(range(300))
    assert "getitem_299" in {n.name for n in graph.nodes}
    assert len(fx.symbolic_trace(space["nested"]).graph.nodes) == 10


PROGRAMS = {
    "if": lambda x: x if x.sum() > 0 else -x,
    "while": lambda x: [None for _ in iter(lambda: bool(x > 0), False)],
    "for": lambda x: [item for item in x],  # noqa: C416
    "star": lambda x: max(*x),
    "double star": lambda x: dict(**x),
    "len": lambda x: len(x),
    "int": lambda x: int(x),
    "float": lambda x: float(x),
    "range": lambda x: list(range(x)),
    "contains": lambda x: 1 in x,
    "set item": lambda x: x.__setitem__ if False else exec("x[0] = 1", {"x": x}),
    "index": lambda x: [1, 2][x],
    "and": lambda x: x and 1,
    "not": lambda x: not x,
    "a set": lambda x: x + {1},
    "an object": lambda x: x + object(),
    "key": lambda x: x.f({x: 1}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_cannot_be_traced_raises_the_error_of_torch(name: str, real_torch: ModuleType) -> None:
    def raised(library: Any) -> tuple[str, list[str]]:
        with pytest.raises(Exception) as error:
            library.fx.symbolic_trace(PROGRAMS[name])
        return type(error.value).__name__, str(error.value).split()

    assert raised(reftorch) == asked(real_torch, raised)


# PyTorch's l1_loss does not pass its weight to an override, and its threshold is called _threshold.
DIFFERENT = {"L1Loss", "Threshold"}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "AdaptiveLogSoftmaxWithLoss": (16, 4, [2]),
    "Unflatten": (1, (2, 3)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (2, 2)),  # their signatures are *args, **kwargs
    **{f"FractionalMaxPool{n}d": (2, 3) for n in (2, 3)},
}
# Not layers, or layers whose Python programs are not torch's: attention does not look for a fused kernel here.
NO_LAYERS = {
    "Container", "Module", "ModuleDict", "ModuleList", "MultiheadAttention", "NLLLoss2d", "ParameterDict",
    "ParameterList", "RNNBase", "RNNCellBase",
}  # fmt: skip
LAYERS = [
    name for name in nn.modules.__all__
    if name not in NO_LAYERS and "Transformer" not in name and issubclass(getattr(nn, name), nn.Module)
]  # fmt: skip


def required(cls: type) -> tuple[int, ...]:
    """The number 2 for each argument that a layer must get: features, channels, widths."""
    return (2,) * sum(
        p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(cls).parameters.values()
    )


@pytest.mark.parametrize("name", sorted(set(LAYERS) - DIFFERENT))
def test_the_code_of_a_layer_is_that_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        layer = getattr(library.nn, name)(*ARGUMENTS.get(name, required(getattr(nn, name))))
        try:
            codes.append(both.plain(library.fx.symbolic_trace(layer).code))
        except library.fx.proxy.TraceError as error:  # for example of batch norm, which looks at the input's shape
            codes.append(str(error))
    assert codes[0] == noted(codes[1])


# Functions that are ops in PyTorch record the arguments as the program wrote them, the others all arguments.
CALLS = {
    "gelu": lambda lib, x: lib.nn.functional.gelu(x) + lib.nn.functional.gelu(x, approximate="tanh"),
    "softplus": lambda lib, x: lib.nn.functional.softplus(x) + lib.nn.functional.softplus(x, 2, threshold=3.0),
    "softshrink": lambda lib, x: lib.nn.functional.softshrink(x) + lib.nn.functional.softshrink(x, lambd=0.25),
    "hardshrink": lambda lib, x: lib.nn.functional.hardshrink(x) + lib.nn.functional.hardshrink(x, 0.25),
    "logsigmoid": lambda lib, x: lib.nn.functional.logsigmoid(x),
    "one_hot": lambda lib, x: lib.nn.functional.one_hot(x) + lib.nn.functional.one_hot(x, 3),
    "sigmoid": lambda lib, x: lib.nn.functional.sigmoid(x) + lib.sigmoid(x) + x.sigmoid(),
    "tanh": lambda lib, x: lib.nn.functional.tanh(x) + lib.tanh(x) + x.tanh(),
    "softmax": lambda lib, x: lib.nn.functional.softmax(x, -1) + lib.softmax(x, -1) + x.softmax(-1),
    "attention": lambda lib, x: lib.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    "nonzero": lambda lib, x: lib.nonzero(x) + lib.dropout(x, 0.5, True) + lib.gradient(x)[0] + lib.kl_div(x, x),
    "norm": lambda lib, x: lib.linalg.norm(x) + lib.linalg.vector_norm(x, 2, dim=-1, keepdim=True) + lib.norm(x),
    "linalg": lambda lib, x: lib.linalg.inv(x) @ lib.linalg.qr(x)[0] @ lib.linalg.solve(x, x, left=False),
    "svd": lambda lib, x: lib.linalg.svd(x, full_matrices=False)[1] + lib.linalg.matrix_rank(x) * lib.linalg.det(x),
    "split": lambda lib, x: lib.split(x, 2)[0] + lib.split(x, [1, 2], dim=1)[1] + x.split(2)[0],
    "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, (3,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_arguments_of_a_function_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    ours = reftorch.fx.symbolic_trace(lambda x: CALLS[name](reftorch, x))
    theirs = real_torch.fx.symbolic_trace(lambda x: CALLS[name](real_torch, x))
    assert both.plain(ours.code) == noted(both.plain(theirs.code))


def test_wrap_is_for_the_top_of_a_module(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        with pytest.raises(NotImplementedError, match=r"^wrap must be called at the top level of a module$"):
            library.fx.wrap("len")
        with pytest.raises(RuntimeError, match="Must be either a callable or string name"):
            library.fx.wrap(1)


def test_a_parameter_of_another_module_is_refused(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        other = library.nn.Linear(2, 2)

        def reads(x: Any) -> Any:
            return x * other.weight  # noqa: B023

        def calls(x: Any) -> Any:
            return other(x)  # noqa: B023

        with pytest.raises(NameError, match=r"^parameter is not a member of this module$"):
            library.fx.symbolic_trace(reads)
        with pytest.raises(NameError, match=r"^module is not installed as a submodule$"):
            library.fx.symbolic_trace(calls)


def test_shapes_of_parameters_may_be_constant() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(reftorch.ones(3, 2))

        def forward(self, x):  # type: ignore[no-untyped-def]
            if self.weight.shape[0] == 3 and self.weight.dim() == self.weight.ndim and self.weight.numel() == 6:
                return x @ self.weight.t()
            return x

    graph = fx.Tracer(param_shapes_constant=True).trace(Net())
    assert [node.name for node in graph.nodes] == ["x", "weight", "t", "matmul", "output"]


def test_the_module_stack_is_noted(real_models: ModuleType, noted: Any) -> None:
    stacks = []
    for models in (MODELS, real_models):
        traced = models.trace("GPT", models.GPT())
        stacks.append(
            [
                [(key, path, cls.__name__) for key, (path, cls) in node.meta.get("nn_module_stack", {}).items()]
                for node in traced.graph.nodes
            ]
        )
    assert stacks[0] == noted(stacks[1])


def test_asserts_are_recorded_where_the_tracer_says_so() -> None:
    class Asserts(fx.Tracer):
        trace_asserts = True

    def program_that_asserts(text: str) -> Any:
        """Pytest rewrites the asserts that stand in this file. torch does not know those of Python 3.11."""
        space: dict[str, Any] = {}
        exec(f"def program(x):\n    assert {text}\n    return x", space)
        return space["program"]

    for text, names in (
        ("x.sum() > 0, 'message'", ["x", "sum_1", "gt", "assert_fn", "output"]),
        ("x", ["x", "assert_fn", "output"]),
    ):
        program = program_that_asserts(text)
        assert [node.name for node in Asserts().trace(program).nodes] == names
        with pytest.raises(fx.proxy.TraceError):
            fx.symbolic_trace(program)
    for text in ("not x", "x > 0 and x < 1", "[x] != [1]", "x if x > 0 else 1"):
        with pytest.raises(fx.proxy.TraceError):
            Asserts().trace(program_that_asserts(text))


def test_mutable_operations_are_refused_where_the_tracer_says_so(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):

        class NoMutation(library.fx.Tracer):  # type: ignore[misc, name-defined]
            check_mutable_operations = True

        def program(x):  # type: ignore[no-untyped-def]
            return library.relu_(x)  # noqa: B023

        with pytest.raises(RuntimeError, match=r"^Tried to trace mutable operation aten::relu_\(Tensor\(a!\) self\)"):
            NoMutation().trace(program)


def test_a_path_that_is_a_keyword_is_read_by_getattr() -> None:
    net = nn.ModuleDict({"in": nn.ReLU(), "2": nn.Tanh()})

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.net["in"](self.net["2"](x))

    traced = fx.symbolic_trace(Net())  # torch writes self.net.in, which is a syntax error
    assert 'getattr(self.net, "in")' in traced.code and 'getattr(self.net, "2")' in traced.code
    traced(reftorch.ones(1))


def test_stack_traces_name_the_line_of_forward() -> None:
    class Traces(fx.Tracer):
        record_stack_traces = True

    class Net(nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            return x + 1  # this line

    [node] = (n for n in Traces().trace(Net()).nodes if n.op == "call_function")
    assert node.stack_trace.split("\n")[-1].strip() == "return x + 1  # this line"
    assert len(node.stack_trace.split("\n")) == 2
