"""DistributedDataParallel: the same training in torch and here, errors, life, buffers, averages that are delayed.

Mirrors: test/distributed/test_c10d_gloo.py, test/distributed/test_c10d_common.py

The ranks are threads, each with a group of its own, except in one test. Buckets and unused parameters are tested in
tests/distributed/test__reducer.py, hooks, mixed precision and uneven inputs in tests/distributed/algorithms/.
"""

from __future__ import annotations

import copy
import gc
import io
import pickle
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.nn.parallel.distributed import _BufferCommHookLocation, _MixedPrecision
from tests.nn.parallel import ddp_program
from tests.nn.parallel.ddp_ranks import Layers, batch, near, play, ranks

dist: Any = torch.distributed
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
@pytest.mark.parametrize("case", ddp_program.OPTIONS)
def test_ranks_train_as_in_torch(case: str, real_torch: Any, noted: Any) -> None:
    """Losses, the gradients of each step, parameters and buffers."""

    def trained(lib: Any) -> list[Any]:
        size = 3 if case == "three ranks" else 2
        return play(lib, size, lambda group, rank: ddp_program.train(lib, case, group, rank, size))

    ours = trained(torch)
    near(ours, noted(trained(real_torch)))
    for name in ours[0]["state"]:  # equal on all ranks, bit for bit
        if not name.startswith("bn.running") or case != "no buffers":
            assert name.startswith("bn.") or ours[0]["state"][name] == ours[1]["state"][name], name


def test_processes_train_as_threads(tmp_path: Path) -> None:
    program = (
        "import pickle, sys, reftorch as torch\n"
        "from tests.nn.parallel.ddp_program import train\n"
        "rank = int(sys.argv[1])\n"
        "torch.distributed.init_process_group('gloo', init_method=f'file://{sys.argv[2]}/store', rank=rank, "
        "world_size=2)\ngroup = torch.distributed.group.WORLD\n"
        "pickle.dump(train(torch, 'many buckets', group, rank, 2), open(f'{sys.argv[2]}/{rank}', 'wb'))\n"
        "torch.distributed.destroy_process_group()\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(rank), str(tmp_path)], cwd=ROOT) for rank in range(2)
    ]
    assert [each.wait(120) for each in started] == [0, 0]
    results = [pickle.loads((tmp_path / str(rank)).read_bytes()) for rank in range(2)]
    near(results, play(torch, 2, lambda group, rank: ddp_program.train(torch, "many buckets", group, rank, 2)))


def test_two_ranks_train_as_one_process() -> None:
    def train(model: Any, inputs: Any) -> list[Any]:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()
        return [p.detach().clone() for p in model.parameters()]

    first = Layers()
    whole = copy.deepcopy(first)

    @ranks()
    def program() -> list[Any]:
        rank = dist.get_rank()
        net = copy.deepcopy(first) if rank == 0 else Layers()  # the numbers of rank 0 win
        return train(DistributedDataParallel(net, bucket_cap_mb=1e-5), batch(rank))

    expected = train(whole, torch.cat([batch(0), batch(1)]))
    for result in program():
        assert all(torch.allclose(a, b, 1e-9) for a, b in zip(result, expected, strict=True))


# --- the mistakes of programs, and the life of a model ---


def test_arguments_that_do_not_fit() -> None:
    @ranks(1)
    def program() -> None:
        frozen = nn.Linear(2, 2).requires_grad_(False)
        with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
            DistributedDataParallel(frozen)
        with pytest.raises(RuntimeError, match="uninitialized parameters can't be used"):
            DistributedDataParallel(nn.LazyLinear(2))
        with pytest.raises(ValueError, match="can only be None or contain a single element"):
            DistributedDataParallel(nn.Linear(2, 2), device_ids=[0, 1])
        with pytest.raises(ValueError, match="device_ids and output_device arguments only work with"):
            DistributedDataParallel(nn.Linear(2, 2), device_ids=[0])
        mixed = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
        with pytest.raises(ValueError, match="must be on the same type of devices"):
            DistributedDataParallel(mixed)
        line, square = dist.init_device_mesh("cpu", (1,)), dist.init_device_mesh("cpu", (1, 1))
        with pytest.raises(RuntimeError, match="Cannot specify both process_group and device_mesh"):
            DistributedDataParallel(nn.Linear(2, 2), process_group=dist.group.WORLD, device_mesh=line)
        with pytest.raises(RuntimeError, match="Only 1D device mesh is supported, but got DeviceMesh"):
            DistributedDataParallel(nn.Linear(2, 2), device_mesh=square)
        with pytest.warns(FutureWarning, match="`broadcast_buffers` is deprecated"):
            model = DistributedDataParallel(nn.Linear(2, 2), broadcast_buffers=False)
        assert not model.forward_sync_buffers and model.bucket_bytes_cap_list == []
        model.broadcast_buffers = True
        assert model.forward_sync_buffers
        with pytest.warns(FutureWarning, match="were specified"):
            DistributedDataParallel(nn.Linear(2, 2), broadcast_buffers=False, forward_sync_buffers=True)
        with pytest.warns(FutureWarning, match="`check_reduction` argument"):
            DistributedDataParallel(nn.Linear(2, 2), check_reduction=True)

    program()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedDataParallel(nn.Linear(2, 2))


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_a_smaller_group_goes_on_after_an_error() -> None:
    """A pass fails on all ranks; ranks 1 and 2 train on without rank 0."""

    @ranks(3)
    def program() -> Any:
        rank = dist.get_rank()
        net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
        for p in net.parameters():
            nn.init.ones_(p)
        model = DistributedDataParallel(net, bucket_cap_mb=1e-6, find_unused_parameters=True)

        def fail(grad: Any) -> Any:
            raise KeyError("in backward")

        def spoil(module: Any, inputs: Any, output: Any) -> None:
            output.register_hook(fail)

        handle = net[0].register_forward_hook(spoil)
        with pytest.raises(KeyError):
            model(torch.ones(1, 1)).sum().backward()  # the second layer has been reduced
        handle.remove()
        with pytest.raises(RuntimeError, match="Expected to have finished reduction"):
            model(torch.ones(1, 1))
        smaller = dist.new_group([1, 2])
        model._update_process_group(smaller)
        net.zero_grad()
        if rank == 0:
            return None
        model(torch.full((1, 1), float(rank))).sum().backward()
        return [p.grad.item() for p in net.parameters()]

    assert program() == [None, [1.5, 1.5], [1.5, 1.5]]


def test_passes_without_backward_and_in_evaluation() -> None:
    @ranks()
    def program() -> list[float]:
        model = DistributedDataParallel(Layers())
        inputs = batch(dist.get_rank())
        model(inputs)
        with torch.no_grad():
            model(inputs)
        model(inputs).sum().backward()
        return model.module[3].bias.grad.tolist()

    assert program() == [[3.0] * 4] * 2


def test_a_model_that_is_given_up_is_freed_and_its_hooks_are_silent() -> None:
    @ranks()
    def program() -> tuple[bool, list[float]]:
        net = Layers()
        model = DistributedDataParallel(net)
        model(batch(dist.get_rank())).sum().backward()
        reference = weakref.ref(model.reducer)
        gc.disable()
        try:
            del model
            freed = reference() is None
        finally:
            gc.enable()
        net.zero_grad()
        net(batch(dist.get_rank())).sum().backward()
        return freed, net[3].bias.grad.tolist()

    assert program() == [(True, [3.0] * 4)] * 2


def test_ignored_parameters_stay_different() -> None:
    @ranks()
    def program() -> tuple[float, float, float]:
        net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
        for p in net.parameters():
            nn.init.constant_(p, 1.0 + dist.get_rank())
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(net, ["1.weight"])
        model = DistributedDataParallel(net)
        model(torch.ones(1, 1)).sum().backward()
        assert [name for name, _ in model._get_data_parallel_params(net, named_params=True)] == ["0.weight"]
        assert [id(p) for p in model._get_data_parallel_params(net)] == [id(net[0].weight)]
        return net[0].weight.item(), net[1].weight.item(), net[1].weight.grad.item()

    assert program() == [(1.0, 1.0, 1.0), (1.0, 2.0, 1.0)]


def test_without_sync_at_the_start_numbers_stay_different() -> None:
    @ranks()
    def program() -> float:
        net = nn.Linear(1, 1, bias=False)
        nn.init.constant_(net.weight, float(dist.get_rank()))
        return DistributedDataParallel(net, init_sync=False).module.weight.item()

    assert program() == [0.0, 1.0]


def test_files_and_pickles() -> None:
    @ranks()
    def program() -> bool:
        model = DistributedDataParallel(Layers(), bucket_cap_mb=1e-5)
        assert next(iter(model.state_dict())) == "module.0.weight"
        again = pickle.loads(pickle.dumps(model))
        again(batch(dist.get_rank())).sum().backward()
        model(batch(dist.get_rank())).sum().backward()
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        other = DistributedDataParallel(Layers(), process_group=dist.new_group([0, 1]))
        with pytest.raises(RuntimeError, match="only supported when using DDP with the default process group"):
            pickle.dumps(other)
        pairs = zip(model.parameters(), again.parameters(), strict=True)
        return all(torch.equal(a.grad, b.grad) for a, b in pairs if a.grad is not None and b.grad is not None)

    assert program() == [True, True]


# --- buffers and the sink ---


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(1, 1, bias=False)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            self.seen.add_(x.sum())
        return self.lin(x)


@pytest.mark.parametrize(
    ("location", "returns_futures"),
    [
        (_BufferCommHookLocation.PRE_FORWARD, False),
        (_BufferCommHookLocation.POST_FORWARD, False),
        (_BufferCommHookLocation.POST_FORWARD, True),
    ],
)
def test_a_function_may_make_the_buffers_equal(location: _BufferCommHookLocation, returns_futures: bool) -> None:
    @ranks()
    def program() -> list[float]:
        model = DistributedDataParallel(Counts())

        events: list[str] = []

        class Watched:
            def __init__(self, future: Any) -> None:
                self.future = future

            def wait(self) -> None:
                events.append("waits")
                self.future.wait()

        def add(state: Any, named: dict[str, Any]) -> Any:
            assert state == "state" and list(named) == ["seen"]
            futures = [Watched(dist.all_reduce(b, async_op=True).get_future()) for b in named.values()]
            if returns_futures:
                return futures
            for future in futures:
                future.wait()

        model._register_buffer_comm_hook("state", add, location)
        seen = []
        for _ in range(2):
            output = model(torch.full((1, 1), 1.0 + dist.get_rank()))
            events.append("backward")
            output.sum().backward()
            seen.append(model.module.seen.item())
        assert events == (["backward", "waits"] if returns_futures else ["waits", "backward"]) * 2
        return seen

    after = location is _BufferCommHookLocation.POST_FORWARD
    assert program() == ([[3.0, 9.0]] * 2 if after else [[1.0, 4.0], [2.0, 5.0]])


def test_a_function_may_send_the_buffers_of_rank_0() -> None:
    @ranks()
    def program() -> float:
        model = DistributedDataParallel(Counts())
        with pytest.raises(AssertionError, match="hook must be callable, got int"):
            model._register_buffer_comm_hook(None, 1)  # type: ignore[arg-type]
        model._register_buffer_comm_hook(None, lambda _, named: model._default_broadcast_coalesced([*named.values()]))
        model(torch.full((1, 1), 1.0 + dist.get_rank())).sum().backward()
        return model.module.seen.item()

    assert program() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_the_sink_need_not_copy() -> None:
    @ranks()
    def program() -> list[Any]:
        net = nn.Linear(1, 1, bias=False)
        outputs: list[Any] = []
        net.register_forward_hook(lambda module, inputs, output: outputs.append(output))
        model = DistributedDataParallel(net, find_unused_parameters=True)
        seen = []
        for copies in (True, False):
            model._set_ddp_sink_clone(copies)
            net.zero_grad()
            y = model(torch.full((1, 1), 1.0 + 2 * dist.get_rank()))
            y.sum().backward()
            seen += [y.data_ptr() == outputs[-1].data_ptr(), net.weight.grad.item()]
        return seen

    assert program() == [[False, 2.0, True, 2.0]] * 2


def test_a_mesh_of_one_dimension_names_the_ranks() -> None:
    @ranks(4)
    def program() -> tuple[bool, float]:
        mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "copy"))["data"]
        net = nn.Linear(1, 1, bias=False)
        model = DistributedDataParallel(net, device_mesh=mesh)
        model(torch.full((1, 1), float(dist.get_rank()))).sum().backward()
        return model.device_mesh == mesh, net.weight.grad.item()

    assert program() == [(True, 1.0), (True, 2.0)] * 2  # ranks 0 and 2, 1 and 3


# --- parameters whose averages are delayed


def test_delayed_averages_as_in_torch(real_torch: Any, noted: Any) -> None:
    ours = play(torch, 2, lambda group, rank: ddp_program.train_delayed(torch, group, rank))
    near(ours, noted(play(real_torch, 2, lambda group, rank: ddp_program.train_delayed(real_torch, group, rank))))
    assert ours[0] == ours[1]


def test_all_averages_may_be_delayed_until_an_earlier_module_is_reached() -> None:
    @ranks()
    def program() -> list[Any]:
        torch.manual_seed(dist.get_rank())
        first, rest = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
        model = DistributedDataParallel(
            rest, delay_all_reduce_named_params=[("weight", rest.weight)], param_to_hook_all_reduce=first.weight
        )
        nn.init.ones_(first.weight)
        seen = []
        for _ in range(2):
            model(first(torch.full((1, 1), 1.0 + 2 * dist.get_rank()))).sum().backward()
            seen.append(rest.weight.grad.item())  # the sum of both passes in the end: nothing was set to None
        rest.weight.grad = torch.full((1, 1), 5.0)  # a program may bring its own
        model(first(torch.full((1, 1), 1.0 + 2 * dist.get_rank()))).sum().backward()
        with pytest.raises(RuntimeError, match="not supported with delay_all_reduce_named_params"):
            pickle.dumps(model)
        return [*seen, rest.weight.grad.item(), rest.weight.item()]

    results = program()
    assert [each[:3] for each in results] == [[2.0, 4.0, 7.0]] * 2
    assert results[0][3] == results[1][3]  # the weight of rank 0, which has another seed


def test_delayed_parameters_are_checked() -> None:
    @ranks(1)
    def program() -> None:
        net = nn.Linear(2, 2)
        weight, bias = ("weight", net.weight), ("bias", net.bias)

        def refused(message: str, **options: Any) -> None:
            with pytest.raises(ValueError, match=message):
                DistributedDataParallel(net, **options)

        refused("need to be set at the same time", delay_all_reduce_named_params=[weight])
        refused("must not be among", delay_all_reduce_named_params=[weight, bias], param_to_hook_all_reduce=net.bias)
        delayed = {"delay_all_reduce_named_params": [bias], "param_to_hook_all_reduce": net.weight}
        refused("mixed_precision cannot be set at the same time", mixed_precision=_MixedPrecision(), **delayed)
        net.bias.data = net.bias.data.double()
        other = nn.Linear(1, 1).bias
        refused("one dtype", delay_all_reduce_named_params=[weight, bias], param_to_hook_all_reduce=other)

    program()
