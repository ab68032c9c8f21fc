"""DataParallel and its four steps on two simulated devices or on GPUs: run by test_data_parallel.py.

Mirrors: test/distributed/test_data_parallel.py, test/test_cuda_multigpu.py

The file is more than 500 lines long, because one process with devices runs all its tests.
"""

import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.nn.parallel import (
    DataParallel,
    comm,
    data_parallel,
    gather,
    parallel_apply,
    replicate,
    scatter,
)
from reftorch.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter
from reftorch.nn.parallel.parallel_apply import get_a_var
from reftorch.nn.parallel.scatter_gather import is_namedtuple, scatter_kwargs

pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
FIRST, SECOND = torch.device("cuda:0"), torch.device("cuda:1")
Pair = namedtuple("Pair", "a b")


def both(*shape: int) -> list[torch.Tensor]:
    return [torch.randn(shape, device=d) for d in (FIRST, SECOND)]


# --- copies ---


def test_broadcast() -> None:
    x = torch.randn(2, 3, device=FIRST)
    here, there = comm.broadcast(x, [0, "cuda:1"])
    assert here is x and there.device == SECOND and torch.equal(there.cpu(), x.cpu())
    copies = comm.broadcast(torch.ones(3), [FIRST, SECOND])
    assert [c.device for c in copies] == [FIRST, SECOND]
    out = both(2, 3)
    assert comm.broadcast(x, out=out) == tuple(out)
    assert all(torch.equal(o.cpu(), x.cpu()) for o in out)
    for call, message in (
        (lambda: comm.broadcast(x), "Exactly one of 'devices' and 'out' must be specified"),
        (lambda: comm.broadcast(x, [0], out=out), "Exactly one of 'devices' and 'out' must be specified"),
        (lambda: comm.broadcast(x, []), "Expected at least one device to broadcast to"),
        (lambda: comm.broadcast(x, [-1]), "Expected non-negative device index, but got -1"),
        (lambda: comm.broadcast(x, out=[torch.ones(2, 3)]), r"output tensor at index 0 has device 'cpu'"),
        (lambda: comm.broadcast(x, out=both(3, 2)), r"same shape .*\[2, 3\], but .* index 0 .* \[3, 2\]"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


def mixture() -> list[torch.Tensor]:
    """Tensors of two dtypes, some of which are larger than a small buffer."""
    shapes = [(2, 3), (7,), (), (4, 4), (1, 0), (3,)]
    return [torch.randn(s, device=FIRST).to(t) for s in shapes for t in (torch.float32, torch.float64)]


@pytest.mark.parametrize("buffer_size", [1, 40, 10**6])
def test_coalesced_copies(buffer_size: int) -> None:
    tensors = mixture()
    here, there = comm.broadcast_coalesced(tensors, [0, 1], buffer_size)
    assert all(a is b for a, b in zip(here, tensors, strict=True))
    for copy, tensor in zip(there, tensors, strict=True):
        assert copy.device == SECOND and copy.dtype == tensor.dtype and torch.equal(copy.cpu(), tensor.cpu())
    sums = comm.reduce_add_coalesced([here, there], 0, buffer_size)
    for total, tensor in zip(sums, tensors, strict=True):
        assert total.device == FIRST and torch.equal(total.cpu(), 2 * tensor.cpu())


def test_copies_of_one_buffer_have_versions_of_their_own() -> None:
    a, b = comm.broadcast_coalesced([torch.ones(2, device=FIRST), torch.ones(3, device=FIRST)], [0, 1])[1]
    before = b._version
    a.add_(1)
    assert b._version == before


def test_coalesced_copies_start_on_the_first_device() -> None:
    with pytest.raises(RuntimeError, match=r"All tensors must be on devices\[0\]: 1"):
        comm.broadcast_coalesced([torch.ones(2, device=FIRST)], [1, 0])


def test_reduce_add() -> None:
    x, y = both(3)
    assert torch.allclose(comm.reduce_add([x, y]).cpu(), x.cpu() + y.cpu())
    total = comm.reduce_add([x, y, x], 1)
    assert total.device == SECOND and torch.allclose(total.cpu(), 2 * x.cpu() + y.cpu())
    assert comm.reduce_add([x]) is x
    with pytest.raises(AssertionError, match="input 1 is on CPU"):
        comm.reduce_add([x, torch.ones(3)])
    with pytest.raises(ValueError, match="input 1 has invalid size: got 2x2, but expected 3"):
        comm.reduce_add([x, torch.ones(2, 2, device=SECOND)])
    with pytest.raises(RuntimeError, match="expects destination to be on the same GPU with one of the tensors"):
        comm.reduce_add([x, x], 1)


@pytest.mark.parametrize("source", ["cpu", "cuda:0", "cuda:1"])
def test_scatter_and_gather_are_inverse(source: str) -> None:
    x = torch.randn(5, 4).to(source)
    for dim, sizes in ((0, None), (1, None), (0, [1, 4]), (1, [4, 0])):
        parts = comm.scatter(x, [0, 1], sizes, dim)
        assert [p.device for p in parts] == [FIRST, SECOND]
        expected = x.chunk(2, dim) if sizes is None else x.split(sizes, dim)
        assert all(torch.equal(p.cpu(), e.cpu()) for p, e in zip(parts, expected, strict=True))
        for place in ("cpu", 1):
            joined = comm.gather(parts, dim, place)
            assert joined.device == (SECOND if place == 1 else torch.device("cpu"))
            assert torch.equal(joined.cpu(), x.cpu())
    streams = [torch.cuda.Stream(0), torch.cuda.Stream(1)]
    parts = comm.scatter(x, [0, 1], streams=streams)
    for each in streams:
        each.synchronize()
    assert torch.equal(comm.gather(parts).cpu(), x.cpu())
    out = [torch.empty(2, 4, device=FIRST), torch.empty(3, 4, device=SECOND)]
    assert comm.scatter(x, out=out) == tuple(out)
    whole = torch.empty(5, 4)
    assert comm.gather(out, out=whole) is whole and torch.equal(whole, x.cpu())
    assert comm.scatter(x[:1], [0, 1])[0].shape == (1, 4) and len(comm.scatter(x[:1], [0, 1])) == 1


X = torch.ones(5, 4)
MISUSE: list[tuple[Callable[[], Any], str]] = [
    (lambda: comm.scatter(X), "Expected at least one device to scatter to"),
    (lambda: comm.scatter(X, [0, 1], [5]), r"len\(devices\) = 2 and len\(chunk_sizes\) = 1"),
    (lambda: comm.scatter(X, [0, 1], out=both(2)), "'devices' must not be specified when 'out' is specified"),
    (lambda: comm.scatter(X, None, [1], out=both(2)), "'chunk_sizes' must not be specified when 'out' is specified"),
    (lambda: comm.scatter(X, out=[]), "Expected at least one output tensor to scatter to"),
    (lambda: comm.scatter(X, out=both(2)), r"index 0 has incorrect shape: \[2\]"),
    (lambda: comm.scatter(X, out=both(2, 3)), r"index 0 has invalid shape \[2, 3\], but expected \[2, 4\]"),
    (lambda: comm.scatter(X, out=both(2, 4)), "scatter dim 0 does not match the source tensor: expected 5, but got 4"),
    (lambda: comm.gather([]), "Expected at least one tensor to gather from"),
    (lambda: comm.gather([X]), "input tensor at index 0 has device 'cpu'"),
    (lambda: comm.gather(both(2, 3), destination=0, out=X), "'destination' must not be specified when 'out'"),
    (lambda: comm.gather(both(2, 3), out=X), r"Expected out tensor to have shape \[4, 3\], but got \[5, 4\]"),
    (lambda: comm.gather([*both(2, 3), torch.ones(2, device=FIRST)]), "the same number of dimensions, but got 1"),
]


@pytest.mark.parametrize("number", range(len(MISUSE)))
def test_misuse_of_copies_is_named(number: int) -> None:
    call, message = MISUSE[number]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_minus_one_still_means_the_cpu() -> None:
    with pytest.warns(FutureWarning, match="Using -1 to represent CPU tensor is deprecated"):
        assert comm.gather(both(2), 0, -1).device.type == "cpu"


def test_the_old_place_of_the_copies() -> None:
    import reftorch.cuda.comm as old

    assert all(getattr(old, name) is getattr(comm, name) for name in old.__all__) and len(old.__all__) == 6


# --- copies in the graph ---


def doubles(*shape: int, device: Any = FIRST) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True)


COPIES: dict[str, tuple[Callable[..., Any], Callable[[], list[torch.Tensor]]]] = {
    "broadcast": (lambda a, b: Broadcast.apply([0, 1], a, b), lambda: [doubles(2, 3), doubles(2)]),
    "reduce_add": (
        lambda a, b, c, d: ReduceAddCoalesced.apply(0, 2, a, b, c, d),
        lambda: [doubles(2), doubles(3, 1), doubles(2, device=SECOND), doubles(3, 1, device=SECOND)],
    ),
    "scatter": (lambda x: Scatter.apply([0, 1], None, 1, x), lambda: [doubles(2, 3)]),
    "scatter of a CPU tensor": (lambda x: Scatter.apply([1, 0], [1, 2], 0, x), lambda: [doubles(3, device="cpu")]),
    "gather": (lambda a, b: Gather.apply(1, 0, a, b), lambda: [doubles(2, 2), doubles(1, 2, device=SECOND)]),
    "gather to the CPU": (lambda a, b: Gather.apply("cpu", 0, a, b), lambda: [doubles(1), doubles(2, device=SECOND)]),
}


@pytest.mark.parametrize("name", COPIES)
def test_derivatives_of_copies(name: str) -> None:
    """The first and second derivatives against difference quotients."""
    function, make = COPIES[name]

    def on_cpu(*inputs: torch.Tensor) -> Any:
        devices = [x.device for x in given]
        outputs = function(*(x.to(d) for x, d in zip(inputs, devices, strict=True)))
        return tuple(o.cpu().sin() for o in ([outputs] if isinstance(outputs, torch.Tensor) else outputs))

    given = make()
    leaves = [x.detach().cpu().requires_grad_() for x in given]
    assert torch.autograd.gradcheck(on_cpu, leaves) and torch.autograd.gradgradcheck(on_cpu, leaves)


def test_copies_without_a_gradient() -> None:
    trained, frozen = torch.ones(2, device=FIRST, requires_grad=True), torch.ones(2, device=FIRST)
    copies = Broadcast.apply([0, 1], trained, frozen)
    assert [c.requires_grad for c in copies] == [True, False, True, False]
    assert Broadcast.apply([0, 1]) == ()
    with pytest.raises(AssertionError, match="Broadcast function not implemented for CPU tensors"):
        Broadcast.apply([0], torch.ones(2))
    with pytest.raises(AssertionError, match="Gather function not implemented for CPU tensors"):
        Gather.apply(0, 0, torch.ones(2))


def test_scalars_are_gathered_to_a_vector() -> None:
    scalars = [torch.tensor(2.0, device=d, requires_grad=True) for d in (FIRST, SECOND)]
    with pytest.warns(UserWarning, match="all input tensors were scalars; will instead unsqueeze and return a vector"):
        vector = gather(scalars, 0)
    assert vector.tolist() == [2, 2]
    (vector * torch.tensor([3.0, 4.0], device=FIRST)).sum().backward()
    assert [s.grad.item() for s in scalars if s.grad is not None] == [3, 4]


# --- arguments and results ---


def test_arguments_are_split() -> None:
    x, marker = torch.arange(5.0), object()
    first, second = scatter({"x": x, "rest": [Pair(x, marker), (1, "word")]}, [0, 1])
    assert first["x"].tolist() == [0, 1, 2] and second["x"].tolist() == [3, 4]
    assert first["x"].device == FIRST and second["rest"][0].a.device == SECOND
    assert is_namedtuple(second["rest"][0]) and second["rest"][0].b is marker and second["rest"][1] == (1, "word")
    assert scatter((), [0, 1]) == [(), ()] and scatter([], [0, 1]) == [[], []]


def test_arguments_by_name_and_by_place_have_one_length() -> None:
    x = torch.ones(2, 1)
    places, names = scatter_kwargs((x,), None, [0, 1])
    assert len(places) == 2 and names == ({}, {})
    places, names = scatter_kwargs((), {"x": x}, [0, 1])
    assert places == ((), ()) and [n["x"].device for n in names] == [FIRST, SECOND]
    places, names = scatter_kwargs((x[:1],), {"scale": 2}, [0, 1])
    assert [len(p) for p in places] == [1, 0] and names == ({"scale": 2}, {"scale": 2})
    assert scatter_kwargs((), {}, [0, 1]) == ((), ())


def test_results_are_joined() -> None:
    x, y = both(2, 2)
    results = [{"pair": Pair(each, [each]), "none": None} for each in (x, y)]
    joined = gather(results, 1)
    expected = torch.cat([x.cpu(), y.cpu()])
    assert type(joined["pair"]) is Pair and joined["none"] is None
    for t in (joined["pair"].a, joined["pair"].b[0]):
        assert t.device == SECOND and torch.equal(t.cpu(), expected)
    assert gather([x, y], "cpu", 1).shape == (2, 4)
    with pytest.raises(ValueError, match="All dicts must have the same number of keys"):
        gather([{}, {"x": y}], 0)
    with pytest.raises(TypeError):
        gather([1, 2], 0)


# --- replicas ---


class Shared(nn.Module):
    """Two layers with one weight, a nested module that occurs twice, an empty parameter, and buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = nn.Linear(3, 3, bias=False)
        self.two.weight = self.one.weight
        self.list = nn.ModuleList([self.one, nn.Sequential(self.two)])
        self.register_parameter("nothing", None)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scale", torch.ones(3, requires_grad=True) * 2)
        self.register_buffer("empty", None)
        self.child = None

    def forward(self, x: torch.Tensor) -> Any:
        self.count.add_(len(x))
        return self.two(self.list[0](x).tanh()) * self.scale


def test_replicas_have_the_structure_of_the_module() -> None:
    net = Shared().to(FIRST)
    replicas = replicate(net, [0, 1])
    for replica, device in zip(replicas, (FIRST, SECOND), strict=True):
        assert type(replica) is Shared and replica is not net
        assert replica.two.weight is replica.one.weight and replica.one.weight.device == device
        assert replica.list[0] is replica.one and replica.list[1][0] is replica.two
        assert replica.nothing is None and replica.empty is None and replica.child is None
        assert list(replica.parameters()) == [] and not replica.one.weight.is_leaf
        assert list(replica.one._former_parameters) == ["weight", "bias"]
        assert replica.count.device == device and replica.scale.device == device
    assert replicas[0].one.weight.data_ptr() == net.one.weight.data_ptr()
    assert replicas[0].count is net.count
    assert isinstance(net.one.weight, nn.Parameter) and len(list(net.parameters())) == 2
    detached = replicate(net, [0, 1], detach=True)
    assert not detached[1].one.weight.requires_grad and not detached[1].scale.requires_grad
    assert replicate(net, []) == []
    assert [len(list(r.modules())) for r in replicate(nn.Sequential(nn.ReLU()), [0, 1])] == [2, 2]  # no parameter


def test_a_replica_has_nothing_to_clear() -> None:
    replica = replicate(nn.Linear(2, 2).to(FIRST), [0, 1])[1]
    with pytest.warns(UserWarning, match=r"Calling .zero_grad\(\) from a module created with nn.DataParallel\(\)"):
        replica.zero_grad()


def test_a_module_on_the_cpu_is_not_copied() -> None:
    with pytest.raises(AssertionError, match="Broadcast function not implemented for CPU tensors"):
        replicate(nn.Linear(2, 2), [0, 1])


# --- threads ---


class Say(nn.Module):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        auto = torch.is_autocast_enabled("cuda") and torch.get_autocast_dtype("cuda")
        here = torch.cuda.current_device(), auto, torch.cuda.current_stream(), threading.current_thread()
        return args, kwargs, torch.is_grad_enabled(), *here


def test_what_is_handed_on_to_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = torch.ones(2, device=FIRST), torch.ones(2, device=SECOND)
    first, second = parallel_apply([Say(), Say()], [x, [y, 1]], [{}, {"k": 2}], [0, SECOND])
    assert first[0] == (x,) and second[0] == (y, 1) and second[1] == {"k": 2}
    assert (first[2], first[3], second[3], first[4]) == (True, 0, 1, False)
    assert first[6] != second[6] and threading.current_thread() not in (first[6], second[6])
    # No op on a device looks at autocast, so the mode refuses to be enabled; here it is handed on all the same.
    monkeypatch.setattr("reftorch.amp.autocast_mode._is_possible", lambda *arguments: True)
    side = torch.cuda.Stream(1)
    former = torch.cuda.current_stream(1)
    with torch.cuda.device(1):
        torch.cuda.set_stream(side)
        try:
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
                first, second = parallel_apply([Say(), Say()], [x, y], devices=[0, 1])
        finally:
            torch.cuda.set_stream(former)
    assert (first[2], second[2], second[4]) == (False, False, torch.bfloat16)
    assert second[5] == side and first[5] != side
    alone = parallel_apply([Say()], [x])[0]
    assert alone[6] is threading.current_thread() and parallel_apply([], []) == []
    assert get_a_var({"a": [1, (x,)]}) is x and get_a_var([1]) is None


class Fails(nn.Module):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.error = error

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.device == SECOND:
            raise self.error
        return x * self.weight


@pytest.mark.parametrize("error", [ValueError("three"), KeyError("key"), ZeroDivisionError("zero")])
def test_an_error_names_the_replica_and_its_device(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        DataParallel(Fails(error).to(FIRST))(torch.ones(4, 1))
    message = str(caught.value)
    assert message.startswith(f"Caught {type(error).__name__} in replica 1 on device 1.\nOriginal Traceback")
    assert "raise self.error" in message


def test_lists_of_other_lengths() -> None:
    for arguments in (([],), ([1], [{}, {}]), ([1], None, [0, 1])):
        with pytest.raises(AssertionError, match="The number of modules 1 is not equal to the number of"):
            parallel_apply([Say()], *arguments)


# --- DataParallel ---


class Net(nn.Module):
    """A perceptron with a buffer, dict results, an argument by name, and a note of what each replica has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(6, 8), nn.Linear(8, 3)
        self.register_buffer("seen", torch.zeros(()))
        self.calls: list[tuple[str, int]] = []

    def forward(self, x: torch.Tensor, *, scale: Any = 1.0) -> dict[str, torch.Tensor]:
        self.calls.append((str(x.device), len(x)))
        self.seen += len(x)
        hidden = torch.tanh(self.fc1(x)) * scale
        return {"y": self.fc2(hidden), "hidden": hidden}


def train(net: Net, model: Any, batch: int, scale: Any) -> tuple[list[float], list[torch.Tensor]]:
    torch.manual_seed(batch)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        x, y = torch.randn(batch, 6, dtype=torch.float64), torch.randn(batch, 3, dtype=torch.float64)
        factor = scale[:batch].to(FIRST) if isinstance(scale, torch.Tensor) else scale
        output = model(x if model is not net else x.to(FIRST), scale=factor)
        loss = ((output["y"] - y.to(FIRST)) ** 2).mean() + output["hidden"].abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.grad.cpu() for p in net.parameters() if p.grad is not None]


SCALES = torch.linspace(1, 2, 8, dtype=torch.float64)[:, None]


@pytest.mark.parametrize(("batch", "scale"), [(8, 2.0), (5, 2.0), (8, SCALES), (5, SCALES), (2, SCALES), (1, SCALES)])
def test_two_devices_train_as_one(batch: int, scale: Any) -> None:
    """With an odd batch, with one sample fewer than devices, and with an argument by name that is split too."""
    torch.manual_seed(0)
    one, two = (Net().double() for _ in range(2))
    two.load_state_dict(one.state_dict())
    one.to(FIRST), two.to(FIRST)
    losses, gradients = train(one, one, batch, scale)
    losses2, gradients2 = train(two, DataParallel(two), batch, scale)
    assert losses2 == pytest.approx(losses, rel=1e-12)
    assert len(gradients2) == len(gradients) == 4
    for a, b in zip(gradients, gradients2, strict=True):
        assert torch.allclose(a, b, 1e-10, 1e-12)
    first = (batch + 1) // 2
    assert sorted(two.calls) == sorted([("cuda:0", first), ("cuda:1", batch - first)][: min(batch, 2)] * 3)
    assert two.seen.item() == 3 * first and one.seen.item() == 3 * batch  # only the first replica shares the buffer


def test_a_number_goes_to_all_devices_and_a_single_sample_to_one() -> None:
    """As in PyTorch, the second replica is then called with the number alone."""
    with pytest.raises(TypeError, match=r"in replica 1 on device 1(.|\n)*missing 1 required positional argument: 'x'"):
        DataParallel(Net().to(FIRST))(torch.ones(1, 6), scale=2.0)


def test_parameters_of_one_storage_add_up() -> None:
    torch.manual_seed(0)
    one, two = (Shared().double().to(FIRST) for _ in range(2))
    two.load_state_dict(one.state_dict())
    x = torch.randn(5, 3, dtype=torch.float64)
    one(x.to(FIRST)).sum().backward()
    DataParallel(two, [0, 1])(x).sum().backward()
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None and torch.allclose(a.grad, b.grad, 1e-10)


def test_data_parallel_is_a_function_too() -> None:
    net = Net().to(FIRST)
    x = torch.randn(5, 6)
    expected = net(x.to(FIRST), scale=3.0)["y"].cpu()
    result = data_parallel(net, x, [0, 1], output_device=1, module_kwargs={"scale": 3.0})["y"]
    assert result.device == SECOND and torch.allclose(result.cpu(), expected)
    assert data_parallel(net, (x.to(FIRST),), [0])["y"].device == FIRST
    with pytest.raises(RuntimeError, match=r"on device cuda:1 \(device_ids\[0\]\) but .* device: cuda:0"):
        data_parallel(net, x, [1, 0])


def test_a_module_elsewhere_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"on device cuda:0 \(device_ids\[0\]\) but .* on device: cpu"):
        DataParallel(nn.Linear(2, 2))(torch.ones(2, 2))
    assert next(DataParallel(nn.Linear(2, 2), [1]).parameters()).device == SECOND  # one device: the module is moved


def test_output_device_and_dim() -> None:
    parallel = DataParallel(nn.Linear(3, 2).to(FIRST), output_device="cuda:1", dim=1)
    x = torch.randn(4, 5, 3)
    y = parallel(x)
    assert y.device == SECOND and y.shape == (4, 5, 2)
    assert torch.allclose(y.cpu(), parallel.module(x.to(FIRST)).cpu(), atol=1e-6)


class NoArguments(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 2))

    def forward(self) -> torch.Tensor:
        return self.weight * 2


def test_a_module_without_arguments_runs_once() -> None:
    assert DataParallel(NoArguments().to(FIRST))().tolist() == [[2, 2], [2, 2]]
    assert data_parallel(NoArguments().to(FIRST), None).shape == (2, 2)


def test_steps_can_be_replaced() -> None:
    class First(DataParallel):
        def gather(self, outputs: Any, output_device: Any) -> Any:
            return [len(output["y"]) for output in outputs]

    assert First(Net().to(FIRST))(torch.ones(5, 6)) == [3, 2]


def test_evaluation_copies_constants() -> None:
    net = Net().to(FIRST)
    with torch.no_grad():
        y = DataParallel(net)(torch.ones(4, 6))["y"]
    assert not y.requires_grad and torch.allclose(y.cpu(), net(torch.ones(4, 6, device=FIRST))["y"].cpu())


def test_hooks_run_for_each_replica() -> None:
    net, seen = Net().to(FIRST), []
    net.fc1.register_forward_hook(lambda module, inputs, output: seen.append(str(output.device)))
    DataParallel(net)(torch.ones(4, 6))["y"].sum().backward()
    assert sorted(seen) == ["cuda:0", "cuda:1"]


@pytest.fixture(autouse=True)
def devices_are_idle_after_each_test() -> Iterator[None]:
    yield
    for device in (0, 1):
        torch.cuda.synchronize(device)


def test_a_number_on_the_cpu_has_its_gradient_there() -> None:
    """The loss of a module may be scaled by a 0-dim CPU tensor that is trained."""
    scale = torch.tensor(2.0, requires_grad=True)
    x = torch.ones(3, device=SECOND, requires_grad=True)
    (x * scale).sum().backward()
    assert scale.grad is not None and scale.grad.device.type == "cpu" and scale.grad.item() == 3
    vector = torch.ones(3, requires_grad=True)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # type: ignore[override]
            return x.to(FIRST)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0]

    with pytest.raises(RuntimeError, match="expected device cpu but got cuda:0"):
        Wrong.apply(vector).sum().backward()


class Convolutions(nn.Module):
    """A network for images with all that such networks have: convolution, batch norm, pooling, cross entropy."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.pool, self.conv2 = nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, stride=2, groups=2)
        self.fc = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.bn(self.conv1(x)).relu())
        return self.fc(self.conv2(x).relu().flatten(1))


def test_a_step_of_a_network_for_images() -> None:
    """One device computes what the CPU does; two devices, on equal halves of a batch, have the same statistics."""
    torch.manual_seed(0)
    nets = [Convolutions().double() for _ in range(3)]
    for net in nets[1:]:
        net.load_state_dict(nets[0].state_dict())
    cpu, one, two = nets[0], nets[1].to(FIRST), nets[2].to(FIRST)
    half, classes = torch.randn(3, 1, 8, 8, dtype=torch.float64), torch.tensor([0, 2, 1])
    x, y = torch.cat([half, half]), torch.cat([classes, classes])
    results = []
    for model, net in ((cpu, cpu), (one, one), (DataParallel(two), two)):
        device = next(net.parameters()).device
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
        results.append([loss.item(), *(t.sum().item() for t in (*net.parameters(), net.bn.running_mean))])
    assert results[1] == pytest.approx(results[0], rel=1e-9, abs=1e-12)
    assert results[2] == pytest.approx(results[0], rel=1e-9, abs=1e-12)
    # The first replica alone writes to the buffers, and unbiases its variance for half of the elements.
    assert two.bn.num_batches_tracked.item() == 2
    assert two.bn.running_var.cpu().ne(cpu.bn.running_var).all()
