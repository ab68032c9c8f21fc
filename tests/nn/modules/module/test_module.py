"""Modules: what is registered, found, converted and printed.

Mirrors: test/test_nn.py
Leaves out: hooks and state dicts, which have their own files here, and devices.
"""

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn
from tests.answers.watched import asked


def parameter(*values: float) -> nn.Parameter:
    return nn.Parameter(reftorch.tensor(values))


def network(lib: ModuleType = reftorch) -> Any:
    """0: Linear, 1: Sequential(0: ReLU, 1: the same Linear)."""
    linear = lib.nn.Linear(2, 2)
    return lib.nn.Sequential(linear, lib.nn.Sequential(lib.nn.ReLU(), linear))


# Attributes


def test_assignment_registers() -> None:
    module = nn.Module()
    module.weight = p = parameter(1.0)
    module.child = child = nn.ReLU()
    module.mean = buffer = nn.Buffer(reftorch.zeros(1))
    module.plain = tensor = reftorch.zeros(1)
    assert (module.weight, module.child, module.mean, module.plain) == (p, child, buffer, tensor)
    assert list(module._parameters) == ["weight"]
    assert list(module._modules) == ["child"]
    assert list(module._buffers) == ["mean"]


@pytest.mark.parametrize(
    ("old", "new"),
    [(old, "parameter") for old in ("parameter", "module", "buffer", "plain")]
    + [(old, "module") for old in ("module", "buffer", "plain")],
)
def test_assignment_replaces_what_the_name_stood_for(old: str, new: str) -> None:
    values = {"parameter": parameter(1.0), "module": nn.ReLU(), "buffer": nn.Buffer(reftorch.ones(1)), "plain": 3}
    news = {"parameter": parameter(2.0), "module": nn.Tanh()}
    module = nn.Module()
    module.x = values[old]
    module.x = news[new]
    assert module.x is news[new]
    assert list(module._parameters) == ["x"] * (new == "parameter")
    assert list(module._modules) == ["x"] * (new == "module")
    assert list(module._buffers) == []


def test_assigning_none_keeps_the_name() -> None:
    module = nn.Module()
    module.weight, module.child, module.mean = parameter(1.0), nn.ReLU(), nn.Buffer(reftorch.ones(1))
    module.weight = module.child = module.mean = None
    assert module.weight is module.child is module.mean is None
    assert module._parameters == {"weight": None}
    assert module._modules == {"child": None}
    assert module._buffers == {"mean": None}
    assert not list(module.parameters())
    assert not list(module.children())


def test_a_buffer_stays_one_when_a_tensor_is_assigned() -> None:
    module = nn.Module()
    module.register_buffer("mean", reftorch.zeros(1), persistent=False)
    module.mean = reftorch.ones(1)
    assert module.mean.item() == 1.0
    assert module._buffers["mean"] is module.mean
    assert not module.state_dict()


def test_deletion() -> None:
    module = nn.Module()
    module.weight, module.child, module.plain = parameter(1.0), nn.ReLU(), 3
    module.register_buffer("mean", reftorch.zeros(1), persistent=False)
    for name in ("weight", "child", "plain", "mean"):
        delattr(module, name)
        with pytest.raises(AttributeError, match=f"'Module' object has no attribute '{name}'"):
            getattr(module, name)
    assert not module._non_persistent_buffers_set
    with pytest.raises(AttributeError):
        del module.weight


ERRORS = {
    "parameter early": lambda lib: early(lib, lib.nn.Parameter(lib.ones(1))),
    "module early": lambda lib: early(lib, lib.nn.ReLU()),
    "no parameter": lambda lib: setattr(lib.nn.Linear(1, 1), "weight", lib.ones(1)),
    "module for parameter": lambda lib: setattr(lib.nn.Linear(1, 1), "weight", lib.nn.ReLU()),
    "no module": lambda lib: setattr(network(lib), "1", 3),
    "no buffer": lambda lib: setattr(lib.nn.NLLLoss(lib.ones(1)), "weight", "text"),
    "register tensor": lambda lib: lib.nn.Module().register_parameter("w", lib.ones(1)),
    "register non-leaf": lambda lib: lib.nn.Module().register_parameter("w", non_leaf(lib)),
    "register name": lambda lib: lib.nn.Module().register_parameter(3, None),
    "register dot": lambda lib: lib.nn.Module().register_parameter("a.b", None),
    "register empty": lambda lib: lib.nn.Module().register_parameter("", None),
    "register taken": lambda lib: lib.nn.Module().register_parameter("training", None),
    "buffer type": lambda lib: lib.nn.Module().register_buffer("b", [1.0]),
    "buffer dot": lambda lib: lib.nn.Module().register_buffer("a.b", None),
    "buffer taken": lambda lib: lib.nn.Linear(1, 1).register_buffer("weight", None),
    "module type": lambda lib: lib.nn.Module().add_module("m", 3),
    "module dot": lambda lib: lib.nn.Module().add_module("a.b", lib.nn.ReLU()),
    "module taken": lambda lib: lib.nn.Module().add_module("forward", lib.nn.ReLU()),
    "keyword": lambda lib: lib.nn.Module(3, bias=True),
    "positional": lambda lib: lib.nn.Module(3),
    "no forward": lambda lib: lib.nn.Module()(3),
    "submodule": lambda lib: network(lib).get_submodule("1.7"),
    "submodule of parameter": lambda lib: network(lib).get_submodule("0.weight"),
    "parameter path": lambda lib: network(lib).get_parameter("0.foo"),
    "parameter of module": lambda lib: network(lib).get_parameter("1.1"),
    "buffer path": lambda lib: network(lib).get_buffer("0.foo"),
    "buffer of parameter": lambda lib: network(lib).get_buffer("0.weight"),
    "set empty": lambda lib: network(lib).set_submodule("", lib.nn.ReLU()),
    "set strict": lambda lib: network(lib).set_submodule("1.9", lib.nn.ReLU(), strict=True),
    "set on parameter": lambda lib: network(lib).set_submodule("0.weight", lib.nn.ReLU()),
    "to ints": lambda lib: network(lib).to(lib.int64),
    "mode": lambda lib: network(lib).train("yes"),
}


def early(lib: ModuleType, value: Any) -> Any:
    return type("Net", (lib.nn.Module,), {"__init__": lambda self: setattr(self, "x", value)})()


def non_leaf(lib: ModuleType) -> Any:
    p = lib.nn.Parameter(lib.ones(1), requires_grad=False)
    return p.mul_(lib.ones(1, requires_grad=True))


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    def raised(lib: ModuleType) -> tuple[type, str]:
        with pytest.raises(Exception) as caught:
            ERRORS[case](lib)
        return caught.type, str(caught.value).replace("reftorch.", "torch.")

    assert raised(reftorch) == asked(real_torch, raised)


def test_what_init_is_told_beside_it_goes_on_where_asked_for() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    class Net(nn.Module, Named):
        call_super_init = True

    assert Net(name="net").name == "net"


def test_a_wrapper_may_look_elsewhere() -> None:
    class Wrapper(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.module, name)

    wrapper = Wrapper(nn.Linear(2, 3))
    assert wrapper.weight is wrapper.module.weight


def test_a_restored_dict_is_read_too() -> None:
    module = nn.Linear(2, 3)
    again = nn.Linear.__new__(nn.Linear)
    again.__dict__.update(module.__getstate__())
    assert again.weight is module.weight


def test_what_is_registered_is_in_its_registry_alone(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> None:
        net = network(lib)
        net.register_buffer("steps", lib.zeros(1))
        assert net.__dict__.keys().isdisjoint({"0", "1", "steps"})
        assert type(net._parameters) is type(net._buffers) is type(net._modules) is dict
        net._parameters["late"] = p = lib.nn.Parameter(lib.ones(1))  # programs write to the dicts directly
        assert net.late is p
        net._modules = {"only": lib.nn.ReLU()}
        assert repr(net.only) == "ReLU()"
        with pytest.raises(AttributeError, match="'Sequential' object has no attribute '0'"):
            getattr(net, "0")

    program(reftorch)
    asked(real_torch, program)


def test_a_module_has_the_attributes_of_torch(real_torch: ModuleType) -> None:
    def attributes(lib: ModuleType) -> list[str]:
        return sorted(vars(lib.nn.Linear(2, 3)))

    assert attributes(reftorch) == asked(real_torch, attributes)
    assert dir(nn.Linear(2, 3)).count("weight") == 1


def test_reads_before_init_raise_attribute_errors(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> None:
        module = lib.nn.Module.__new__(lib.nn.Module)
        assert not hasattr(module, "_parameters")
        with pytest.raises(AttributeError, match="'Module' object has no attribute 'weight'"):
            module.weight  # noqa: B018

    program(reftorch)
    asked(real_torch, program)


def overriding(lib: ModuleType, persistent: bool) -> list[Any]:
    """A subclass with an older register_buffer, which has no option ``persistent``."""

    class Old(lib.nn.Module):
        def register_buffer(self, name: str, tensor: Any) -> None:  # type: ignore[override]
            super().register_buffer(name, tensor)

    module = Old()
    module.steps = lib.nn.Buffer(lib.zeros(1), persistent=persistent)
    return list(module.state_dict())


def test_an_older_register_buffer(real_torch: ModuleType) -> None:
    assert overriding(reftorch, True) == overriding(real_torch, True) == ["steps"]
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="Registering a non-persistent buffer on a Module subclass"):
            overriding(lib, False)


# The tree


def test_walks(real_torch: ModuleType) -> None:
    ours, theirs = network(), network(real_torch)
    for net in (ours, theirs):
        net.register_buffer("steps", net[0].weight.detach())
    for walk in (
        lambda net: [name for name, _ in net.named_parameters()],
        lambda net: [name for name, _ in net.named_parameters(remove_duplicate=False)],
        lambda net: [name for name, _ in net.named_parameters(prefix="x", recurse=False)],
        lambda net: [name for name, _ in net[0].named_parameters(prefix="x", recurse=False)],
        lambda net: [name for name, _ in net.named_buffers()],
        lambda net: [name for name, _ in net.named_modules()],
        lambda net: [name for name, _ in net.named_modules(prefix="x", remove_duplicate=False)],
        lambda net: [name for name, _ in net.named_children()],
        lambda net: [type(module).__name__ for module in net.modules()],
        lambda net: [type(module).__name__ for module in net.modules(remove_duplicate=False)],
        lambda net: [type(module).__name__ for module in net.children()],
        lambda net: [tuple(p.shape) for p in net.parameters()],
        lambda net: [tuple(b.shape) for b in net.buffers(recurse=False)],
    ):
        assert walk(ours) == walk(theirs)


def test_paths() -> None:
    net = network()
    assert net.get_submodule("") is net
    assert net.get_submodule("1.0") is net[1][0]
    assert net.get_parameter("1.1.bias") is net[0].bias
    net[1].register_buffer("steps", steps := reftorch.zeros(1))
    assert net.get_buffer("1.steps") is steps
    net.set_submodule("1.0", tanh := nn.Tanh())
    assert net[1][0] is tanh
    net.set_submodule("2", tanh)
    assert len(net) == 3


def test_apply_goes_from_the_leaves_to_the_root() -> None:
    net, seen = network(), []
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Sequential"]


# Conversion and modes


def test_conversion_keeps_the_parameters_and_converts_their_gradients() -> None:
    net = network()
    weight = net[0].weight
    net(reftorch.ones(1, 2)).sum().backward()
    net.register_buffer("count", reftorch.tensor(3))
    net.register_buffer("mean", reftorch.zeros(2))
    assert net.double() is net
    assert net[0].weight is weight
    assert weight.dtype is weight.grad.dtype is net.mean.dtype is reftorch.float64
    assert weight.is_leaf
    assert weight.requires_grad
    assert net.count.dtype is reftorch.int64


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda m: m.double(), "float64"),
        (lambda m: m.half(), "float16"),
        (lambda m: m.bfloat16(), "bfloat16"),
        (lambda m: m.double().float(), "float32"),
        (lambda m: m.to(reftorch.float64), "float64"),
        (lambda m: m.to(dtype=reftorch.float64), "float64"),
        (lambda m: m.to("cpu", reftorch.float64), "float64"),
        (lambda m: m.to(reftorch.zeros(1, dtype=reftorch.float64)), "float64"),
        (lambda m: m.to("cpu"), "float32"),
        (lambda m: m.cpu(), "float32"),
        (lambda m: m.type(reftorch.float64), "float64"),
    ],
)
def test_conversions(convert: Any, dtype: str) -> None:
    assert convert(nn.Linear(1, 1)).weight.dtype is getattr(reftorch, dtype)


BAD_CONVERSIONS = {
    "integers": lambda lib: nn_of(lib).to(lib.int64),
    "integers by name": lambda lib: nn_of(lib).to("cpu", lib.int32),
    "keyword": lambda lib: nn_of(lib).to(foo=1),
    "list": lambda lib: nn_of(lib).to(["cpu"]),
    "dtype": lambda lib: nn_of(lib).to("cpu", "float32"),
    "too many": lambda lib: nn_of(lib).to("cpu", lib.float32, False, False, False),
    "twice": lambda lib: nn_of(lib).to(lib.float32, dtype=lib.float64),
    "device": lambda lib: nn_of(lib).to("nowhere"),
    "no data": lambda lib: lib.nn.Linear(1, 1, device="meta").to("cpu"),
    "no device": lambda lib: lib.nn.Linear(1, 1).cuda(),
}


def nn_of(lib: ModuleType) -> Any:
    return lib.nn.Linear(1, 1)


@pytest.mark.parametrize("case", BAD_CONVERSIONS)
def test_bad_conversions_raise_the_types_of_torch(real_torch: ModuleType, case: str) -> None:
    kinds = []
    for lib in (reftorch, real_torch):
        with pytest.raises(Exception) as caught:
            BAD_CONVERSIONS[case](lib)
        kinds.append(
            [
                kind
                for kind in (TypeError, NotImplementedError, RuntimeError, AssertionError)
                if issubclass(caught.type, kind)
            ]
        )
    assert kinds[0] == kinds[1]


def test_conversions_keep_what_they_do_not_name(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        module = lib.nn.Module()
        module.weight = lib.nn.Parameter(lib.ones(2, 3, 4, 5))
        module.register_buffer("count", lib.tensor(3))
        module.to(lib.float64, non_blocking=True).to(memory_format=lib.channels_last)
        assert module.weight.dtype is lib.float64 and module.weight.stride() == (60, 1, 15, 3)
        assert module.count.dtype is lib.int64
        module.to(lib.zeros(1))
        assert module.weight.dtype is lib.float32


def test_memory_is_shared_with_processes_forked_later() -> None:
    net = network().share_memory()
    assert all(p.is_shared() for p in net.parameters())


@pytest.mark.filterwarnings("ignore:torch.compile")  # said once in a process
def test_a_compiled_module_runs_as_it_is() -> None:
    net, x = nn.Linear(2, 2), reftorch.ones(1, 2)
    before = net(x)
    net.compile()
    assert reftorch.equal(net(x), before)


def test_a_replica_has_no_parameters(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        net = lib.nn.Linear(2, 2)
        replica = net._replicate_for_data_parallel()
        assert not list(replica.parameters()) and len(list(net.parameters())) == 2
        with pytest.warns(UserWarning, match="has no effect"):
            replica.zero_grad()


def test_modes_go_down() -> None:
    net = network()
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net[1].train()
    assert [net.training, net[1].training, net[1][0].training] == [False, True, True]


def test_gradients() -> None:
    net = network()
    net(reftorch.ones(1, 2)).sum().backward()
    grad = net[0].weight.grad
    net.zero_grad(set_to_none=False)
    assert net[0].weight.grad is grad
    assert grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    net.zero_grad()
    assert net[0].weight.grad is None
    assert net.requires_grad_(False) is net
    assert not any(p.requires_grad for p in net.parameters())


def test_a_gradient_with_a_history_is_zeroed_without_it() -> None:
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.grad = reftorch.ones(1, 1, requires_grad=True) * 2
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.tolist() == [[0.0]]
    assert layer.weight.grad.grad_fn is None
    assert not layer.weight.grad.requires_grad


# Text and copies


def test_repr_is_that_of_torch(real_torch: ModuleType) -> None:
    def build(lib: ModuleType) -> Any:
        class Net(lib.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.body = network(lib)
                self.none = lib.nn.ReLU()
                self.none = None

            def extra_repr(self) -> str:
                return "first\nsecond"

        return Net()

    assert repr(build(reftorch)) == repr(build(real_torch))
    assert repr(nn.Module()) == "Module()"


def test_dir_has_what_is_registered() -> None:
    names = dir(network()[0])
    assert {"weight", "bias", "forward", "in_features"} <= set(names)
    assert not [name for name in dir(network()) if name.isdigit()]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_are_whole(duplicate: Any) -> None:
    net = nn.Sequential(nn.ReLU(), nn.Softmax(dim=0))
    net.eval()
    again = duplicate(net)
    assert repr(again) == repr(net)
    assert not again[0].training
    again[0].extra = 3
    assert not hasattr(net[0], "extra")
    again.append(nn.ReLU())
    assert len(again) == 3
    assert len(net) == 2


def test_deepcopy_keeps_shared_parameters_shared() -> None:
    net = network()
    again = copy.deepcopy(net)
    assert again[0] is again[1][1]
    assert again[0].weight is not net[0].weight
    assert again[0].weight is again[0]._parameters["weight"]
    with reftorch.no_grad():
        again[0].weight.fill_(7.0)
    assert again[1][1](reftorch.ones(1, 2)).tolist() != net[1][1](reftorch.ones(1, 2)).tolist()


def test_a_shallow_copy_shares_the_registries(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> None:
        net = lib.nn.Linear(2, 2)
        again = copy.copy(net)
        assert again.weight is net.weight
        again.weight = None
        assert net.weight is None

    program(reftorch)
    asked(real_torch, program)
