"""Layers that are divided among ranks compute and learn what whole layers do, and their parts are torch's.

Mirrors: test/distributed/tensor/parallel/test_tp_style.py, test/distributed/tensor/parallel/test_parallelize_api.py
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.tensor import DTensor, Replicate, Shard
from reftorch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from tests.distributed.ranks import world


def make_net(lib: Any, middle: int) -> Any:
    class Block(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down, self.norm = lib.nn.Linear(4, middle), lib.nn.Linear(middle, 4), lib.nn.LayerNorm(4)

        def forward(self, x: Any) -> Any:
            return self.norm(x + self.down(self.up(x).tanh()))

    class Net(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.head = lib.nn.Embedding(7, 4), lib.nn.Linear(4, 6)
            self.layers = lib.nn.ModuleList([Block(), Block()])

        def forward(self, x: Any) -> Any:
            x = self.table(x)
            for layer in self.layers:
                x = layer(x)
            return self.head(x)

    net = Net().double()
    with lib.no_grad():
        for number, p in enumerate(net.parameters()):
            p.copy_(lib.arange(p.numel()).add(number).double().sin().reshape(p.shape))
    return net


def divided(lib: Any, net: Any) -> Any:
    tensor = importlib.import_module(f"{lib.__name__}.distributed.tensor")
    style = importlib.import_module(f"{lib.__name__}.distributed.tensor.parallel")
    mesh = lib.distributed.device_mesh.init_device_mesh("cpu", (lib.distributed.get_world_size(),))
    plan = {
        "layers.*.up": style.ColwiseParallel(),
        "layers.*.down": style.RowwiseParallel(),
        "table": style.ColwiseParallel(output_layouts=tensor.Replicate()),
        "head": style.ColwiseParallel(output_layouts=tensor.Replicate()),
    }
    return style.parallelize_module(net, mesh, plan)


def train(lib: Any, net: Any, losses: list[float]) -> None:
    optimizer = lib.optim.Adam(net.parameters(), lr=0.05, foreach=False)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(lib.arange(6).reshape(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def trained(lib: Any, size: int, middle: int) -> list[Any]:
    """Return, for each rank, losses, parts of parameters and gradients, and whole parameters."""

    def program() -> Any:
        net, losses = divided(lib, make_net(lib, middle)), []
        train(lib, net, losses)
        seen: list[Any] = [losses]
        for name, p in net.named_parameters():
            lies = hasattr(p, "placements")
            part, grad = (p.to_local(), p.grad.to_local()) if lies else (p, p.grad)
            seen.append([name, repr(p.placements) if lies else "", part.tolist(), grad.tolist()])
            seen.append(p.full_tensor().tolist() if lies else p.tolist())
        return seen

    return world(lib, size, program)


def near(a: Any, b: Any) -> None:
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            near(x, y)
    else:
        assert a == (pytest.approx(b, rel=1e-8, abs=1e-10) if isinstance(a, float) else b)


def test_parts_are_as_in_torch(real_torch: Any, noted: Any) -> None:
    near(trained(torch, 2, 6), noted(trained(real_torch, 2, 6)))


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_train_as_one_process(size: int) -> None:
    """Seven features can be divided by no number of ranks, which PyTorch refuses."""
    whole, losses = make_net(torch, 7), []
    train(torch, whole, losses)
    for seen in trained(torch, size, 7):
        near(seen[0], losses)
        near(seen[2::2], [p.tolist() for p in whole.parameters()])


def test_two_layers_need_one_message_each_way(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    c10d: Any = torch.distributed.distributed_c10d

    def program() -> None:
        net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 4))
        parallelize_module(net, None, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        x = torch.ones(3, 4, requires_grad=True)
        torch.distributed.barrier()
        del calls[:]
        torch.distributed.barrier()
        net(x).sum().backward()

    before = c10d.all_reduce
    monkeypatch.setattr(c10d, "all_reduce", lambda *args, **options: (calls.append(""), before(*args, **options))[1])
    world(torch, 2, program)
    assert len(calls) == 2 * 2  # on two ranks: the output, and the gradient of the input


def test_layouts_and_outputs_that_stay_on_the_mesh() -> None:
    def program() -> None:
        layer = nn.Linear(4, 6)
        whole = layer.weight.detach().clone()
        torch.distributed.broadcast(whole, 0)
        bias = layer.bias.detach().clone()
        torch.distributed.broadcast(bias, 0)
        x = torch.arange(8.0).reshape(2, 4)
        wanted = x @ whole.t() + bias
        rank = torch.distributed.get_rank()
        style = ColwiseParallel(input_layouts=Shard(0), use_local_output=False)
        out = parallelize_module(layer, None, style)(x[rank : rank + 1])
        assert isinstance(out, DTensor) and out.placements == (Shard(1),) and torch.allclose(out.full_tensor(), wanted)
        again = nn.Linear(4, 6)
        with torch.no_grad():
            again.weight.copy_(whole)
            again.bias.copy_(bias)
        style2 = RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0))
        part = parallelize_module(again, None, style2, src_data_rank=None)(x)
        assert torch.allclose(part, wanted[rank : rank + 1], rtol=1e-4)

    world(torch, 2, program)


def test_what_cannot_be_divided_is_named() -> None:
    def program() -> None:
        with pytest.raises(NotImplementedError, match=r"ColwiseParallel currently only support nn.Linear and nn.Embed"):
            parallelize_module(nn.ReLU(), None, ColwiseParallel())
        with pytest.raises(
            NotImplementedError, match=r"RowwiseParallel currently only support nn.Linear, not Embedding"
        ):
            parallelize_module(nn.Embedding(2, 2), None, RowwiseParallel())
        with pytest.raises(TypeError, match="for parallelize_plan, <class 'int'> found!"):
            parallelize_module(nn.Linear(2, 2), None, 3)  # type: ignore[arg-type]
        with pytest.warns(UserWarning, match=r"key 'layers.\*' could not be resolved"):
            parallelize_module(nn.Linear(2, 2), None, {"layers.*": ColwiseParallel()})
        with pytest.warns(UserWarning, match="No parallelize_plan is provided"):
            parallelize_module(nn.Linear(2, 2))

    world(torch, 1, program)
