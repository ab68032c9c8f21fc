"""``fully_shard``: training in pieces equals training in one process, and agrees with torch's pieces.

Mirrors: test/distributed/_composable/fsdp/test_fully_shard_training.py
"""

from __future__ import annotations

import copy
import importlib
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.device_mesh import init_device_mesh
from reftorch.distributed.fsdp import FSDPModule, fully_shard
from reftorch.distributed.tensor import DTensor, distribute_tensor
from reftorch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
from tests.distributed.ranks import world

dist: Any = torch.distributed


def make_net(lib: Any) -> Any:
    """Return a network whose parameters have 7, 5, 2 and 1 rows, with a frozen one and one with two places."""

    class Block(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = lib.nn.Linear(5, 7), lib.nn.Linear(7, 5, bias=False)
            self.again = lib.nn.Linear(5, 7, bias=False)
            self.again.weight = self.up.weight
            self.scale = lib.nn.Parameter(lib.ones(1))
            self.frozen = lib.nn.Parameter(lib.ones(2), requires_grad=False)

        def forward(self, x: Any, *, factor: float = 1.0) -> Any:
            y = self.down(self.up(x).tanh() + self.again(x)) * self.scale
            return {"x": x + y * factor * self.frozen.sum()}["x"]

    class Net(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.last = Block(), Block(), lib.nn.Linear(5, 2)

        def forward(self, x: Any) -> Any:
            return self.last(self.second(self.first(x, factor=0.5)))

    net = Net().double()
    with lib.no_grad():
        for number, p in enumerate(p for p in net.parameters() if p.requires_grad):
            p.copy_(lib.arange(p.numel()).add(number).double().sin().mul(0.5).reshape(p.shape))
    return net


def batch(lib: Any, size: int, step: int) -> Any:
    return lib.arange(size * 10).double().add(step).sin().reshape(size * 2, 5)


def train(lib: Any, net: Any, size: int, rank: int | None, optimizer: Any, case: str = "") -> list[float]:
    """Return the losses of three steps, with the rows of one rank or with all."""
    losses = []
    for step in range(3):
        optimizer.zero_grad()
        x = batch(lib, size, step)
        halves = [x] if rank is None else [x[rank::size]]
        if case == "two batches":
            halves = [each for half in halves for each in (half, half * 2)]
        for i, half in enumerate(halves):
            if case == "two batches" and rank is not None:
                net.set_requires_gradient_sync(i == len(halves) - 1)
            loss = net(half).square().mean()
            loss.backward()
        lib.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return losses


def divided(lib: Any, net: Any, case: str) -> Any:
    shard = importlib.import_module(f"{lib.__name__}.distributed.fsdp").fully_shard
    if case != "only the root":
        keep = {"kept after forward": False, "root, too": True}.get(case)
        for part in (net.first, net.second):
            shard(part, reshard_after_forward=keep)
    return shard(net, reshard_after_forward=True if case == "root, too" else None)


def trained(lib: Any, case: str, size: int, kind: str = "Adam") -> list[Any]:
    """Return losses, the whole parameters, this rank's pieces and gradients, and how they lie."""

    def program() -> Any:
        rank = lib.distributed.get_rank()
        net = divided(lib, make_net(lib), case)
        optimizer = getattr(lib.optim, kind)([p for p in net.parameters() if p.requires_grad], lr=0.05)
        losses = train(lib, net, size, rank, optimizer, case)
        state = net.state_dict()
        return [
            losses,
            [value.full_tensor().flatten().tolist() for value in state.values()],
            [[name, repr(value.placements), list(value.to_local().shape)] for name, value in state.items()],
            [None if p.grad is None else p.grad.to_local().flatten().tolist() for p in net.parameters()],
            type(net).__name__,
        ]

    return world(lib, size, program)


def near(a: Any, b: Any) -> None:
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            near(x, y)
    else:
        assert a == (pytest.approx(b, rel=1e-8, abs=1e-10) if isinstance(a, float) else b)


def test_pieces_are_as_in_torch(real_torch: Any, noted: Any) -> None:
    near(trained(torch, "", 3), noted(trained(real_torch, "", 3)))


CASES = ("", "only the root", "kept after forward", "root, too", "two batches")


@pytest.mark.parametrize(("case", "kind"), [*((case, "Adam") for case in CASES), ("", "SGD"), ("", "RMSprop")])
def test_ranks_train_as_one_process(case: str, kind: str) -> None:
    for size in (2, 3):
        whole = make_net(torch)
        optimizer = getattr(torch.optim, kind)(whole.parameters(), lr=0.05)
        expected = train(torch, whole, size, None, optimizer, case)
        results = trained(torch, case, size, kind)
        near([sum(each) / size for each in zip(*(r[0] for r in results), strict=True)], expected)
        for result in results:
            near(result[1], [value.flatten().tolist() for value in whole.state_dict().values()])


def bytes_of(module: Any) -> int:
    return sum(p.unsharded_param.untyped_storage().nbytes() for p in vars(module)["_fsdp_state"].group.params)


def test_whole_parameters_are_there_only_while_they_are_used() -> None:
    def program() -> None:
        net = divided(torch, make_net(torch), "")
        seen: list[Any] = []
        net.second.down.register_forward_hook(lambda *args: seen.append((bytes_of(net.first), bytes_of(net.second))))
        x = batch(torch, 2, 0)
        output = net(x)
        inside = sum(p.numel() for p in net.second.parameters()) * 8
        assert seen == [(0, inside)]
        assert bytes_of(net) > 0 and bytes_of(net.second) == 0  # the root keeps its own until the backward pass
        assert type(net.last.weight) is nn.Parameter and isinstance(net.first.up.weight, DTensor)
        output.sum().backward()
        assert [bytes_of(each) for each in (net, net.first, net.second)] == [0, 0, 0]
        assert all(isinstance(p, DTensor) for p in net.parameters())
        assert net.second.up.weight is net.second.again.weight

    world(torch, 2, program)


def test_what_a_module_can_do_in_addition() -> None:
    def program() -> None:
        net = divided(torch, make_net(torch), "")
        assert isinstance(net, FSDPModule) and isinstance(net.first, FSDPModule)
        assert not isinstance(net.last, FSDPModule)
        assert net.first.unshard() is None and bytes_of(net.first) > 0 and bytes_of(net.second) == 0
        assert torch.equal(net.first.up.weight, make_net(torch).first.up.weight)
        net.first.reshard()
        net.first.unshard(async_op=True).wait()
        assert not any(isinstance(p, DTensor) for p in net.first.parameters())
        assert all(isinstance(p, DTensor) for p in net.state_dict().values())  # puts the pieces back
        net.set_reshard_after_forward(False)
        net(batch(torch, 2, 0)).sum().backward()
        net.set_reshard_after_backward(False)
        net.zero_grad()
        net(batch(torch, 2, 0)).sum().backward()
        assert bytes_of(net.first) > 0
        net.reshard()
        first = net.last.bias.grad.full_tensor()
        net.set_gradient_divide_factor(1.0)
        net.zero_grad()
        net(batch(torch, 2, 0)).sum().backward()
        net.reshard()
        assert torch.allclose(net.last.bias.grad.full_tensor(), 2 * first)  # the sum over two ranks, not the mean

    world(torch, 2, program)


def test_a_state_dict_has_the_pieces() -> None:
    def program() -> None:
        net, other = (divided(torch, make_net(torch), "") for _ in range(2))
        with torch.no_grad():
            for p in net.parameters():
                p.add_(1.0)
        assert not torch.equal(net.last.weight.full_tensor(), other.last.weight.full_tensor())
        other.load_state_dict(net.state_dict())
        for a, b in zip(net.parameters(), other.parameters(), strict=True):
            assert torch.equal(a.full_tensor(), b.full_tensor())
        whole = {name: distribute_tensor(value, None, net.state_dict()[name].placements)
                 for name, value in make_net(torch).state_dict().items()}  # fmt: skip
        other.load_state_dict(whole)
        assert torch.equal(other.last.weight.full_tensor(), make_net(torch).last.weight)

    world(torch, 2, program)


POLICIES: dict[str, dict[str, Any]] = {
    "computes in 16 bits": {"param_dtype": "bfloat16"},
    "adds in 32 bits": {"param_dtype": "bfloat16", "reduce_dtype": "float32", "output_dtype": "float64"},
    "inputs as they are": {"param_dtype": "float32", "cast_forward_inputs": False},
}


@pytest.mark.parametrize("case", POLICIES)
def test_other_dtypes_as_in_torch(case: str, real_torch: Any, noted: Any) -> None:
    """Dtypes inside forward, of outputs and gradients, and the numbers after steps with and without transfers."""

    def program(lib: Any) -> list[Any]:
        fsdp = importlib.import_module(f"{lib.__name__}.distributed.fsdp")
        options = {key: getattr(lib, str(value), value) for key, value in POLICIES[case].items()}

        def rank() -> list[Any]:
            net, dtypes = make_net(lib), []
            net.first.register_forward_hook(lambda layer, args, output: dtypes.append([args[0].dtype, output.dtype]))
            for part in (net.first, net.second):  # whose outputs are inputs of layers of the root
                fsdp.fully_shard(part, mp_policy=fsdp.MixedPrecisionPolicy(**{**options, "output_dtype": None}))
            fsdp.fully_shard(net, mp_policy=fsdp.MixedPrecisionPolicy(**options))
            optimizer = lib.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
            x = batch(lib, 2, lib.distributed.get_rank())
            for step in range(4):
                output = net(x if options.get("cast_forward_inputs", True) else x.float())
                dtypes.append([output.dtype])
                net.set_requires_gradient_sync(step % 2 == 1)
                output.square().mean().backward()
                if step % 2 == 1:
                    dtypes.append([p.grad.dtype for p in net.parameters() if p.requires_grad])
                    optimizer.step()
                    optimizer.zero_grad()
            state = [p.full_tensor().flatten().tolist() for p in net.parameters()]
            return [[str(each)[str(each).index(".") :] for row in dtypes for each in row], state]

        return world(lib, 2, rank)

    (ours, _), (theirs, _) = program(torch), noted(program(real_torch))
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1], theirs[1], strict=True):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-5 if case == "inputs as they are" else 2e-3)


def test_a_layer_that_is_not_used_on_one_rank_counts_as_zero() -> None:
    def program() -> Any:
        net = fully_shard(nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)]))
        net.forward = lambda x: net[0](x) + (net[1](x) if dist.get_rank() == 1 else 0)
        net(torch.ones(1, 2)).sum().backward()
        return net[1].bias.grad.full_tensor().tolist()

    assert world(torch, 2, program) == [[0.5, 0.5]] * 2


def test_mistakes_are_as_in_torch(real_torch: Any, noted: Any) -> None:
    def texts(lib: Any) -> Any:
        module = importlib.import_module(f"{lib.__name__}.distributed.fsdp")

        def program() -> Any:
            scalar, mixed = lib.nn.Linear(1, 1), lib.nn.Linear(1, 1)
            scalar.scale = lib.nn.Parameter(lib.tensor(1.0))
            mixed.extra = lib.nn.Parameter(lib.ones(2).double())
            done = module.fully_shard(lib.nn.Sequential(lib.nn.Linear(1, 1)))
            said = [type(done[:1]).__name__, type(done).__name__]
            calls: list[Any] = [lambda: module.fully_shard(scalar), lambda: copy.deepcopy(done),
                                lambda: done.set_reshard_after_forward(1)]  # fmt: skip
            for call in calls:
                try:
                    call()
                except Exception as error:
                    said.append(f"{type(error).__name__}: {error}")
            return said

        return world(lib, 2, program)

    assert texts(torch) == noted(texts(real_torch))


def test_what_is_left_out_is_named() -> None:
    def program() -> None:
        layer = nn.Linear(2, 2)
        for options in ({"ignored_params": set()}, {"reshard_after_forward": 2}):
            with pytest.raises(NotImplementedError, match=f"^fully_shard: {next(iter(options))} must be"):
                fully_shard(layer, **options)
        with pytest.raises(NotImplementedError, match="one module is needed, not a list"):
            fully_shard([layer])
        with pytest.raises(NotImplementedError, match="the mesh must have one dimension, not 2"):
            fully_shard(layer, mesh=init_device_mesh("cpu", (1, 2)))
        layer.extra = nn.Parameter(torch.ones(2).double())
        with pytest.raises(AssertionError, match="FSDP expects uniform original parameter dtype"):
            fully_shard(layer)
        done = fully_shard(nn.Linear(2, 2))
        with pytest.raises(ValueError, match="the module is divided already"):
            fully_shard(done)
        with pytest.raises(
            NotImplementedError, match=r"cannot be converted or moved. Hint: do this before fully_shard"
        ):
            done.double()
        net = nn.Sequential(parallelize_module(nn.Linear(2, 2), None, ColwiseParallel()))
        with pytest.raises(NotImplementedError, match=r"0.weight lies in pieces already.*, not both"):
            fully_shard(net)

    world(torch, 2, program)
