"""Classes and functions say PyTorch's place, files cross both ways, and a variable of a split module is one variable.

Mirrors: nothing in PyTorch: it has one file where this library has several, and one name.
"""

import functools
import importlib
import io
import re
import subprocess
import sys
import types
import typing
from collections import OrderedDict
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

import reftorch
from reftorch import _places
from reftorch._api import Row, rows

# PyTorch keeps these classes where no class of this library can be.
ELSEWHERE = {"torch.profiler.ProfilerActivity"}


def there() -> list[Row]:
    return [row for row in rows().values() if row.state in ("there", "partly")]


def value_of(library: ModuleType, row: Row) -> Any:
    """The object of a row in a library, or None if the row is a member of a class."""
    try:
        module = importlib.import_module(library.__name__ + row.module.removeprefix("torch"))
    except ModuleNotFoundError:
        return None
    return getattr(module, row.name, None)


# torch itself does not find these classes under the names that they say.
LOST_IN_TORCH = {"SDPBackend": "says that its name is _SDPBackend"}


@pytest.mark.filterwarnings("ignore")
def test_classes_are_where_torch_has_them(real_torch: ModuleType) -> None:
    wrong, count = [], 0
    for row in there():
        ours, theirs = value_of(reftorch, row), value_of(real_torch, row)
        if isinstance(theirs, type) and theirs.__module__.partition(".")[0] == "torch":
            count += 1
            place = _places.in_torch(ours.__module__, ours.__qualname__)
            if place != (theirs.__module__, theirs.__qualname__) and row.name not in LOST_IN_TORCH:
                wrong.append(f"{row.module}.{row.name}: {ours}, and not {theirs}")
    assert not wrong and count > 250


def crossed(save: Any, load: Any, value: Any) -> Any:
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return load(file, weights_only=False)


REFERENCES = (type, types.FunctionType, types.BuiltinFunctionType)


@pytest.mark.filterwarnings("ignore")
def test_classes_and_functions_of_files_of_torch_are_found(real_torch: ModuleType) -> None:
    lost, count = [], 0
    for row in there():
        theirs = value_of(real_torch, row)
        if not isinstance(theirs, REFERENCES) or "<locals>" in theirs.__qualname__:
            continue
        try:
            file = io.BytesIO()
            real_torch.save(theirs, file)
        except Exception:  # torch cannot name it in a file either
            continue
        count += 1
        file.seek(0)
        try:
            reftorch.load(file, weights_only=False)
        except Exception as error:
            lost.append(f"{row.module}.{row.name}: {error}")
    assert not lost and count > 900


@pytest.mark.filterwarnings("ignore")
def test_torch_finds_the_classes_and_functions_of_our_files(real_torch: ModuleType) -> None:
    lost, count = [], 0
    for row in there():
        ours, theirs = value_of(reftorch, row), value_of(real_torch, row)
        if not isinstance(theirs, REFERENCES) or not isinstance(ours, (*REFERENCES, type(reftorch.add))):
            continue
        if row.name == "to_dlpack" or row.name.endswith("Storage"):  # made by the binding; torch's reader replaces them
            continue
        count += 1
        try:
            got = crossed(reftorch.save, real_torch.load, ours)
            if isinstance(theirs, type) and got is not theirs:
                lost.append(f"{row.module}.{row.name}: {got}")
        except Exception as error:
            lost.append(f"{row.module}.{row.name}: {error}")
    assert not lost and count > 900


OBJECTS = """
nn.TransformerEncoderLayer(4, 2, 8, activation="gelu")
nn.TransformerDecoderLayer(4, 2, 8, activation=nn.functional.gelu)
nn.utils.spectral_norm(nn.Linear(2, 2))
nn.utils.weight_norm(nn.Linear(2, 2))
nn.utils.prune.identity(nn.Linear(2, 2), "weight")
nn.LazyLinear(3)
nn.LazyBatchNorm1d()
nn.ModuleDict({"a": nn.ReLU(), "b": nn.GRU(2, 3)})
nn.ParameterList([nn.Parameter(torch.ones(2))])
nn.MultiheadAttention(4, 2)
nn.AdaptiveLogSoftmaxWithLoss(4, 10, [2, 5])
nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance())
nn.Conv2d(2, 3, 2, padding="same", padding_mode="circular")
nn.Buffer(torch.ones(2))
nn.modules.module._IncompatibleKeys([], [])
optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1, momentum=0.9)
optim.Adam([nn.Parameter(torch.ones(2))])
optim.Muon([nn.Parameter(torch.ones(2, 2))])
optim.lr_scheduler.OneCycleLR(optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1), 2, 10).state_dict()
optim.swa_utils.AveragedModel(nn.Linear(2, 2))
distributions.TransformedDistribution(distributions.Normal(0., 1.), [distributions.ExpTransform()])
distributions.MixtureSameFamily(distributions.Categorical(torch.ones(2)), distributions.Normal(torch.zeros(2), 1.))
distributions.ComposeTransform([distributions.SigmoidTransform(cache_size=1), distributions.TanhTransform()])
distributions.StickBreakingTransform()
distributions.constraints.independent(distributions.constraints.real, 1)
torch.strided
torch.no_grad()
torch.enable_grad()
torch.set_grad_enabled(True)
torch.inference_mode()
torch.autocast("cpu")
functools.partial(nn.functional.leaky_relu, negative_slope=0.1)
functools.partial(torch.clamp, min=0.)
torch.Tensor.add
torch.Tensor.backward
nn.Module.state_dict
torch.utils.data.Subset(torch.utils.data.TensorDataset(torch.ones(2)), [0])
torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2)))
torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE
torch.nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)])
torch.max(torch.ones(2, 2), 1)
fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
torch.OutOfMemoryError("no memory")
""".strip().splitlines()


def made(library: ModuleType, text: str) -> Any:
    parts = ("distributions", "fx", "nn", "nn.utils.prune", "optim", "utils.checkpoint", "utils.data")
    names = {name: importlib.import_module(f"{library.__name__}.{name}") for name in parts}
    return eval(text, {"torch": library, "functools": functools, **names})


def text_of(value: Any) -> str:
    text = re.sub(r" at 0x[0-9a-f]+|^\w+\(\n", "", repr(value)).replace("reftorch", "torch")
    return re.sub(r"<(built-in )?(function|method) (\w+\.)*(\w+).*?>", r"\4", text)


@pytest.mark.parametrize("text", OBJECTS)
@pytest.mark.filterwarnings("ignore")
def test_objects_cross_both_ways(text: str, real_torch: ModuleType) -> None:
    for here, other in ((reftorch, real_torch), (real_torch, reftorch)):
        value = made(here, text)
        got = crossed(here.save, other.load, value)
        assert text_of(got) == text_of(value)
        if isinstance(got, other.nn.Module):
            got.state_dict(), got.eval(), repr(got)


def test_classes_of_the_library_can_be_allowed() -> None:
    net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 3), reftorch.nn.GELU())
    file = io.BytesIO()
    reftorch.save(net, file)
    file.seek(0)
    with pytest.raises(Exception, match=r"safe_globals\(\[torch.nn.modules.container.Sequential\]\)"):
        reftorch.load(file)
    names = reftorch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue()))
    assert set(names) == {f"torch.nn.modules.{n}" for n in ("container.Sequential", "linear.Linear", "activation.GELU")}
    with reftorch.serialization.safe_globals([reftorch.nn.Sequential, reftorch.nn.Linear, reftorch.nn.GELU]):
        assert reftorch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue())) == []
        file.seek(0)
        assert repr(reftorch.load(file)) == repr(net)


# ---- one variable


SPLIT = sorted(name for name, module in sys.modules.items() if isinstance(module, _places.SplitModule))


def test_the_split_modules_are_found() -> None:
    assert {"reftorch.nn.modules.module", "reftorch.nn.functional", "reftorch.serialization"} <= set(SPLIT)


@pytest.mark.parametrize("name", SPLIT)
def test_a_variable_of_a_split_module_is_one_variable(name: str) -> None:
    """Each name that a part uses can be replaced at PyTorch's place, and is the old one afterwards."""
    module: Any = sys.modules[name]
    for part in module._parts:
        for variable in [key for key in vars(part) if not key.startswith("__")]:
            before = vars(part)[variable]
            if isinstance(before, ModuleType) or getattr(module, variable) is not before:
                continue  # a name that the parts use for several things
            replacement = object()
            with mock.patch.object(module, variable, replacement):
                assert vars(part)[variable] is replacement and getattr(module, variable) is replacement
            assert vars(part)[variable] is before and getattr(module, variable) is before
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(module, variable, object())
                monkeypatch.setattr(module, variable, replacement)
                assert vars(part)[variable] is replacement
            assert vars(part)[variable] is before and getattr(module, variable) is before


@pytest.mark.parametrize("full", [True, False])
def test_a_variable_that_a_part_rebinds_is_read_at_torchs_place(full: bool) -> None:
    module: Any = reftorch.nn.modules.module
    register = module.register_module_full_backward_hook if full else module.register_module_backward_hook
    # The variable keeps its value when the hook goes, as in PyTorch: an earlier test may have set it.
    with mock.patch.object(module, "_global_is_full_backward_hook", None), register(lambda *args: None):
        assert module._global_is_full_backward_hook is full


def test_global_hooks_are_replaced_by_an_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = reftorch.nn.modules.module
    calls: list[str] = []
    handle = module.register_module_forward_hook(lambda *args: calls.append("registered"))
    monkeypatch.setattr(module, "_global_forward_hooks", OrderedDict())
    reftorch.nn.Identity()(reftorch.ones(1))
    handle.remove()
    assert calls == []
    monkeypatch.setattr(module, "_closer_look", {})
    monkeypatch.setattr(module, "_global_forward_hooks", OrderedDict({1: lambda *args: calls.append("assigned")}))
    reftorch.nn.Identity()(reftorch.ones(1))
    assert calls == ["assigned"]


def test_a_missing_name_is_explained_in_a_split_module() -> None:
    with pytest.raises(AttributeError, match=r"^module 'reftorch.distributions.transforms' has no attribute 'nothing'"):
        reftorch.distributions.transforms.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_tools_find_the_file_of_a_moved_class() -> None:
    module = _places.defining_module(reftorch.distributions.ExpTransform)
    assert module is not None and module.__name__ == "reftorch.distributions.transforms.elementwise"
    assert _places.defining_module(reftorch.nn.Linear) is sys.modules["reftorch.nn.modules.linear"]


# ---- the name torch

UNDER_THE_NAME = """
import importlib, importlib.util, inspect, pickle, sys, typing
import torch
from reftorch._api import rows
wrong = [name for name, module in sys.modules.items()
         if name.startswith("reftorch") and module.__name__.startswith("reftorch") and name != "reftorch._as_torch"]
for row in rows().values():
    if row.state in ("there", "partly") and importlib.util.find_spec(row.module):
        value = getattr(importlib.import_module(row.module), row.name, None)
        place = getattr(value, "__module__", None)
        if isinstance(place, str) and place.startswith("reftorch") and row.name != "debug":
            wrong.append(f"{row.module}.{row.name}")
assert not wrong, wrong[:9]
assert torch.nn.Linear.forward.__module__ == "torch.nn.modules.linear" and torch.Tensor.__module__ == "torch"
assert torch.distributions.ExpTransform.__module__ == "torch.distributions.transforms"
assert torch.typename(torch.nn.ReLU) == "torch.nn.modules.activation.ReLU"
assert pickle.loads(pickle.dumps(torch.nn.Linear)) is torch.nn.Linear
assert inspect.getsource(torch.nn.Linear).startswith("class Linear(Module)")
assert typing.get_type_hints(torch.nn.Linear.forward)["return"] is torch.Tensor
assert type(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1, 1)))).__module__ == "torch.fx.graph_module"
for name, found in (("torch", True), ("torch.nn", True), ("torch.utils.data", True), ("torch.onnx", False),
                    ("torch.no_such", False), ("torch.distributions.no_such", False)):
    assert (importlib.util.find_spec(name) is not None) is found, name
class Own(torch.Tensor):
    pass
assert type(torch.nn.functional.gelu(torch.ones(2).as_subclass(Own)) + 1) is Own
try:
    torch.nn.Linear(1, 1).register_buffer("x", 3)
except TypeError as error:
    assert "Hint" not in str(error)
"""


def test_a_program_that_says_torch_meets_only_that_name() -> None:
    done = subprocess.run([sys.executable, "-m", "reftorch", "-c", UNDER_THE_NAME], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_annotations_of_classes_can_be_evaluated() -> None:
    """`typing.get_type_hints` looks names up in the module that a class names; some of these are split here."""
    failed = []
    for module in (reftorch.nn, reftorch.optim, reftorch.distributions, reftorch.utils.data):
        for name in dir(module):
            cls = getattr(module, name)
            if isinstance(cls, type) and cls.__module__.startswith("reftorch"):
                try:
                    typing.get_type_hints(cls)
                except NameError as error:
                    failed.append(f"{name}: {error}")
    assert not failed, "\n".join(failed)
    assert typing.get_type_hints(reftorch.nn.Module)["training"] is bool
