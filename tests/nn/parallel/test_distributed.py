"""DistributedDataParallel: the same training in torch and here, overlap, errors, hooks and uneven inputs.

Mirrors: test/distributed/test_c10d_gloo.py, test/distributed/test_c10d_common.py

The ranks are threads, each with a group of its own, except in one test. The file is more than 500 lines long, because
it mirrors its source.
"""

from __future__ import annotations

import copy
import gc
import io
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed._reducer import GradBucket, _compute_bucket_assignment_by_size
from reftorch.distributed.algorithms import ddp_comm_hooks
from reftorch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    quantization_hooks,
    register_ddp_comm_hook,
)
from reftorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, bf16_compress_wrapper
from reftorch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import (
    PowerSGDState,
    batched_powerSGD_hook,
    powerSGD_hook,
)
from reftorch.distributed.algorithms.ddp_comm_hooks.quantization_hooks import (
    quantization_perchannel_hook,
    quantization_pertensor_hook,
)
from reftorch.distributed.algorithms.join import Join, Joinable, JoinHook
from reftorch.futures import Future
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.nn.parallel.distributed import _BufferCommHookLocation
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.nn.parallel import ddp_program

dist: Any = torch.distributed
ROOT = Path(__file__).resolve().parents[3]


def play(lib: Any, size: int, program: Callable[[Any, int], Any]) -> list[Any]:
    """Return the results of ``program(group, rank)`` in threads of either library."""
    store, results = lib.distributed.HashStore(), [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = program(ddp_program.group_of(lib, store, rank, size), rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def ranks(size: int = 2) -> Any:
    return spawn_threads_and_init_comms(timeout=30, world_size=size)


def near(a: Any, b: Any) -> None:
    """Compare nested results; None stands for no gradient and must be in the same places."""
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            near(x, y)
    elif a is None or b is None:
        assert a is b
    else:
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12)


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


class Layers(nn.Sequential):
    """Four layers, so that buckets of one layer each are possible."""

    def __init__(self) -> None:
        super().__init__(*(nn.Linear(4, 4, dtype=torch.float64) for _ in range(4)))


def batch(rank: int, size: int = 2) -> Any:
    return torch.arange(size * 12, dtype=torch.float64).reshape(-1, 4).sin()[rank::size]


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


# --- buckets ---


def test_assignment_to_buckets() -> None:
    tensors = [torch.empty(n, dtype=t) for n, t in ((2, torch.float32), (1, torch.float64), (2, torch.float32))]
    assert _compute_bucket_assignment_by_size(tensors, [8]) == [[0], [1], [2]]
    assert _compute_bucket_assignment_by_size(tensors, [9]) == [[0, 2], [1]]
    many = [torch.empty(10) for _ in range(6)]
    assert _compute_bucket_assignment_by_size(many, [40, 80]) == [[0], [1, 2], [3, 4], [5]]
    assert _compute_bucket_assignment_by_size(many[:3], [40, 80], [7, 5, 6]) == [[7], [5, 6]]


def test_buckets_are_reduced_in_reverse_order_while_backward_runs() -> None:
    """A hook notes when it is called; a tensor hook behind the first layer notes when backward arrives there."""

    @ranks()
    def program() -> tuple[list[Any], list[Any]]:
        net = Layers()
        model = DistributedDataParallel(net, bucket_cap_mb=160 / 2**20)  # a weight and a bias: 20 numbers of 8 bytes
        events: list[Any] = []

        def hook(state: Any, bucket: GradBucket) -> Any:
            names = [name for name, p in net.named_parameters() if any(p is each for each in bucket.parameters())]
            events.append((bucket.index(), bucket.is_last(), names))
            assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
            return allreduce_hook(state, bucket)

        model.register_comm_hook(None, hook)

        def watch(module: Any, inputs: Any, output: Any) -> None:
            output.register_hook(lambda grad: events.append("first layer"))

        net[0].register_forward_hook(watch)
        passes = []
        for _ in range(3):
            model(batch(dist.get_rank())).sum().backward()
            passes.append(events[:])
            events.clear()
        return passes[0], passes[2]

    for first, later in program():
        assert [event[0] for event in first if event != "first layer"] == [0]  # one bucket, until the order is known
        buckets = [event for event in later if event != "first layer"]
        assert [(index, is_last) for index, is_last, _ in buckets] == [(0, False), (1, False), (2, False), (3, True)]
        assert [sorted(names) for _, _, names in buckets] == [[f"{i}.bias", f"{i}.weight"] for i in (3, 2, 1, 0)]
        assert later.index("first layer") >= 3  # three buckets travel before the first layer has its gradients


def test_builtin_hooks_average_too() -> None:
    def program() -> Any:
        grads = []
        for kind in (None, dist.BuiltinCommHookType.ALLREDUCE, dist.BuiltinCommHookType.FP16_COMPRESS):
            net = copy.deepcopy(first)
            model = DistributedDataParallel(net)
            if kind is not None:
                model._register_builtin_comm_hook(kind)
            model(batch(dist.get_rank())).sum().backward()
            grads.append(net[0].weight.grad)
        assert torch.equal(grads[0], grads[1]) and torch.allclose(grads[0], grads[2], rtol=1e-2, atol=1e-3)
        assert not torch.equal(grads[0], grads[2])

    first = Layers()
    ranks()(program)()


def test_gradients_may_be_views_of_the_buckets() -> None:
    @ranks()
    def program() -> Any:
        net = Layers()
        model = DistributedDataParallel(net, gradient_as_bucket_view=True)
        for _ in range(2):
            model(batch(dist.get_rank())).sum().backward()
        grads = [p.grad for p in net.parameters()]
        assert len({g.untyped_storage().data_ptr() for g in grads if g is not None}) == 1
        net[0].weight.grad = torch.zeros(4, 4, dtype=torch.float64)  # a program may take a gradient away
        model(batch(dist.get_rank())).sum().backward()
        return net[0].weight.grad._is_view()

    assert program() == [True, True]


# --- the mistakes of programs ---


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)
        self.both = False

    def forward(self, x: Any) -> Any:
        y = self.used(x)
        return (y, self.unused(x)) if self.both else y


def test_unused_parameters_are_named() -> None:
    @ranks()
    def program() -> str:
        model = DistributedDataParallel(Branch())
        model(torch.ones(1, 2)).sum().backward()
        with pytest.raises(RuntimeError) as early:
            model._check_reducer_finalized()
        with pytest.raises(RuntimeError) as error:
            model(torch.ones(1, 2))
        assert str(early.value) == str(error.value)
        return str(error.value)

    for rank, message in enumerate(program()):
        assert message.startswith(
            "Expected to have finished reduction in the prior iteration before starting a new one"
        )
        assert "passing the keyword argument `find_unused_parameters=True`" in message
        assert f"did not receive grad for rank {rank}: unused.weight, unused.bias\n" in message
        assert f"Parameter indices which did not receive grad for rank {rank}: 2 3\n" in message
        assert "set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL" in message


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_with_the_search_the_message_does_not_ask_for_it() -> None:
    @ranks(1)
    def program() -> str:
        net = Branch()
        net.both = True
        model = DistributedDataParallel(net, find_unused_parameters=True)
        model(torch.ones(1, 2))
        net.used(torch.ones(1, 2)).sum().backward()  # not what the pass returned
        with pytest.raises(RuntimeError) as error:
            model(torch.ones(1, 2))
        return str(error.value)

    assert "Since `find_unused_parameters=True` is enabled" in program()[0]
    assert "passing the keyword argument" not in program()[0]


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_the_ranks_that_used_a_parameter_are_counted() -> None:
    @ranks(3)
    def program() -> list[list[int]]:
        net = Branch()
        model = DistributedDataParallel(net, find_unused_parameters=True)
        seen = [model.reducer._get_local_used_map().tolist()]
        for both in (False, dist.get_rank() == 1, True):
            net.both = both
            output = model(torch.ones(1, 2))
            sum(t.sum() for t in (output if both else [output])).backward()
            counts = model.reducer._get_local_used_map()
            assert counts.dtype == torch.int32
            seen.append(counts.tolist())
        return seen

    assert program() == [[[0] * 4, [3, 3, 0, 0], [3, 3, 1, 1], [3] * 4]] * 3


@pytest.mark.parametrize("options", [{"find_unused_parameters": True}, {"static_graph": True}])
def test_buckets_of_unused_parameters_are_skipped(options: dict[str, Any]) -> None:
    @ranks()
    def program() -> list[Any]:
        net = Branch()
        nn.init.ones_(net.used.weight)
        model = DistributedDataParallel(net, bucket_cap_mb=1e-6, skip_all_reduce_unused_params=True, **options)
        calls = []

        def hook(state: Any, bucket: GradBucket) -> Any:
            calls.append([tuple(p.shape) for p in bucket.parameters()])
            return allreduce_hook(state, bucket)

        model.register_comm_hook(None, hook)
        for _ in range(3):
            calls.clear()
            net.zero_grad()
            model(torch.full((1, 2), 1.0 + 2 * dist.get_rank())).sum().backward()
        return [len(calls), net.used.weight.grad.tolist(), net.unused.weight.grad]

    assert program() == [[2, [[2.0, 2.0], [2.0, 2.0]], None]] * 2


def test_an_output_that_is_hidden_from_the_search_is_named() -> None:
    class Box:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

    class Hides(Branch):
        def forward(self, x: Any) -> Any:
            return self.used(x), Box(self.unused(x))

    @ranks()
    def program() -> str:
        model = DistributedDataParallel(Hides(), find_unused_parameters=True)
        output, box = model(torch.ones(1, 2))
        with pytest.raises(RuntimeError) as error:
            (output + box.tensor).sum().backward()
        return str(error.value)

    for message in program():  # the parameters counted as unused, and then their gradients came
        assert message.startswith("Expected to mark a variable ready only once")
        assert "with name unused." in message and "has been marked as ready twice" in message


def test_a_graph_that_changes_is_not_static() -> None:
    @ranks()
    def program() -> str:
        net = Branch()
        net.both = True
        model = DistributedDataParallel(net, static_graph=True)
        for _ in range(2):
            sum(t.sum() for t in model(torch.ones(1, 2))).backward()
        net.both = False
        model(torch.ones(1, 2)).sum().backward()
        with pytest.raises(RuntimeError, match="not compatible with static_graph set to True") as error:
            model(torch.ones(1, 2))
        return str(error.value)

    assert all("unused.weight, unused.bias" in message for message in program())


def test_a_static_graph_may_not_use_more_than_in_its_first_pass() -> None:
    @ranks()
    def program() -> str:
        net = Branch()
        model = DistributedDataParallel(net, static_graph=True)
        model(torch.ones(1, 2)).sum().backward()
        net.both = True
        with pytest.raises(RuntimeError, match="Your training graph has changed in this iteration") as error:
            sum(t.sum() for t in model(torch.ones(1, 2))).backward()
        return str(error.value)

    assert all("the parameter unused." in message for message in program())


def test_two_forwards_of_a_static_graph_before_each_backward() -> None:
    @ranks()
    def program() -> list[float]:
        net = nn.Linear(1, 1, bias=False)
        model = DistributedDataParallel(net, static_graph=True)
        seen = []
        for _ in range(3):
            net.zero_grad()
            x = torch.full((1, 1), 1.0 + dist.get_rank())
            (model(x) + model(3 * x)).sum().backward()
            seen.append(net.weight.grad.item())
        return seen

    assert program() == [[6.0] * 3] * 2


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: nn.Linear(2, 4), "the sizes of params[0] of Rank 1"),
        (lambda: nn.Linear(2, 3, bias=False), "Rank 1 has 1 params, while rank 0 has inconsistent 2 params"),
        (lambda: nn.Linear(2, 3, dtype=torch.float64), "the dtype of params[0] of Rank 1"),
        (lambda: nn.Bilinear(1, 1, 3), "weight with sizes [3, 1, 1]"),
    ],
)
def test_models_that_differ_are_named_on_all_ranks(other: Any, words: str) -> None:
    @ranks()
    def program() -> str:
        with pytest.raises(RuntimeError, match="DDP expects same model across all ranks") as error:
            DistributedDataParallel(nn.Linear(2, 3) if dist.get_rank() == 0 else other())
        return str(error.value)

    messages = program()
    assert words in messages[0] and messages[0] == messages[1]


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
        with pytest.raises(NotImplementedError, match="mixed_precision must be None"):
            DistributedDataParallel(nn.Linear(2, 2), mixed_precision=object())
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


def test_the_parameters_of_the_reducer_have_names() -> None:
    @ranks(1)
    def program() -> None:
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        net[0].bias.requires_grad_(False)
        model = DistributedDataParallel(net)
        parameters, is_sparse = model._build_params_for_reducer()
        assert is_sparse == [False] * 3
        names = {0: "0.weight", 1: "1.weight", 2: "1.bias"}
        assert model._build_debug_param_to_name_mapping(parameters) == names == model.reducer.names
        with pytest.raises(ValueError, match="Expected param to name mapping"):
            model._build_debug_param_to_name_mapping([*parameters, nn.Parameter(torch.ones(1))])
        with pytest.raises(ValueError, match=r"Param with name 1\.bias"):
            model._build_debug_param_to_name_mapping(parameters[:-1])

    program()


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


# --- hooks ---


def averages(hook: Any, state: Callable[[], Any] = lambda: None, passes: int = 1, **options: Any) -> Any:
    """Return, for each rank, the flat gradients of a layer in some passes. Rank r multiplies its inputs by r + 1."""

    @ranks()
    def program() -> list[list[float]]:
        net = nn.Linear(3, 2, bias=False, dtype=torch.float64)
        model = DistributedDataParallel(net, **options)
        model.register_comm_hook(state(), hook)
        found = []
        for step in range(passes):
            net.zero_grad()
            x = torch.arange(12, dtype=torch.float64).add(step).sin().reshape(4, 3) * (dist.get_rank() + 1)
            (model(x) * torch.arange(8, dtype=torch.float64).cos().reshape(4, 2)).sum().backward()
            found.append(net.weight.grad.reshape(-1).tolist())
        return found

    return program()


def test_hooks_that_average() -> None:
    expected = averages(allreduce_hook)
    near(expected[0], expected[1])
    for hook in (bf16_compress_wrapper(allreduce_hook), ddp_comm_hooks.default.bf16_compress_hook):
        found = averages(hook)
        assert found[0] == found[1] and found != expected
        assert found[0][0] == pytest.approx(expected[0][0], rel=0.02)


def test_a_hook_without_communication_keeps_the_gradients_of_the_rank() -> None:
    one, two = averages(ddp_comm_hooks.debugging.noop_hook)
    assert two[0] == pytest.approx([2 * g for g in one[0]])


def test_quantized_gradients_are_off_by_half_a_step_at_most() -> None:
    """The bucket of 30 gradients is sent as bytes, with one step on each rank, or with one for each ten of them."""
    exact = torch.linspace(-1, 3, 30)
    exact[25] = 200.0

    def averaged(hook: Any) -> list[Any]:
        @ranks()
        def program() -> Any:
            net = nn.Linear(30, 1, bias=False)
            model = DistributedDataParallel(net)
            model.register_comm_hook(None, hook)
            model((exact * (1.0 + 2 * dist.get_rank())).reshape(1, -1)).sum().backward()
            return net.weight.grad.reshape(-1)

        results = program()
        assert torch.equal(*results)
        return (results[0] - 2 * exact).abs()

    whole = averaged(quantization_pertensor_hook)
    parts = averaged(lambda state, bucket: quantization_perchannel_hook(state, bucket, 10))
    step = 201 * 2 / 255  # the mean of both ranks' steps
    assert 0.1 * step < whole.max() <= 0.5 * step * 1.001
    assert 0 < parts[:20].max() < 3.5 * 2 / 255 and parts[20:].max() > 0.1 * step


def test_steps_and_zeros_are_those_of_torch(real_torch: Any) -> None:
    observers = real_torch.ao.quantization
    for values in ([[0.5, 2.0, 1.0], [-3.0, -1.0, -2.0]], [[0.0, 0.0, 0.0], [-1.0, 5.0, 0.3]]):
        for rows, observer in (
            (values, observers.PerChannelMinMaxObserver()),
            ([values[0] + values[1]], observers.MinMaxObserver()),
        ):
            observer(real_torch.tensor(rows))
            scale, zero = observer.calculate_qparams()
            ours = quantization_hooks._steps_of(torch.tensor(rows))
            assert [t.reshape(-1).tolist() for t in ours] == [scale.tolist(), [float(z) for z in zero]]


def test_power_sgd_of_full_rank_is_exact() -> None:
    full = averages(powerSGD_hook, lambda: PowerSGDState(None, 2, 2, min_compression_rate=0.1), passes=4)
    near(full, averages(allreduce_hook, passes=4))


def test_batched_power_sgd_takes_a_bucket_as_one_square_matrix() -> None:
    """Six numbers are a matrix of 3 x 3 with zeros at its end. PyTorch's own hook fails: it fell behind its helpers."""
    states = []

    def state() -> PowerSGDState:
        states.append(PowerSGDState(None, 1, 2))
        return states[-1]

    passes = 12
    low = averages(batched_powerSGD_hook, state, passes=passes)
    exact = averages(allreduce_hook, passes=passes)
    assert low[0] == low[1] and low[0][:2] == exact[0][:2]
    rows = torch.tensor(low[0][3], dtype=torch.float64).reshape(2, 3)  # the third row of the square is cut off
    assert torch.linalg.matrix_rank(rows).item() == 1
    errors = sum(s.error_dict[0][:6] for s in states) / 2
    sums = [torch.tensor(values, dtype=torch.float64).sum(0) for values in (low[0], exact[0])]
    assert torch.allclose(sums[0] + errors, sums[1], atol=1e-9)
    assert states[0].compression_stats() == (1, 6 * (passes - 2), 6 * (passes - 2))
    full = averages(batched_powerSGD_hook, lambda: PowerSGDState(None, 2, 2), passes=4)  # this square has rank 2
    near(full, averages(allreduce_hook, passes=4))


def test_power_sgd_of_low_rank_loses_nothing_for_ever() -> None:
    """What a pass leaves out comes in the next ones: sums over passes differ by the last error only."""
    states = []

    def state() -> PowerSGDState:
        states.append(PowerSGDState(None, 1, 2, min_compression_rate=1))
        return states[-1]

    passes = 12
    low = averages(powerSGD_hook, state, passes=passes)
    exact = averages(allreduce_hook, passes=passes)
    assert low[0] == low[1] and low[0][:2] == exact[0][:2]
    assert torch.linalg.matrix_rank(torch.tensor(low[0][3]).reshape(2, 3)).item() == 1
    errors = sum(s.error_dict[0] for s in states) / 2
    sums = [torch.tensor(values, dtype=torch.float64).sum(0) for values in (low[0], exact[0])]
    assert torch.allclose(sums[0] + errors, sums[1], atol=1e-9)
    assert states[0].compression_stats() == (6 / 5, 6 * (passes - 2), 5 * (passes - 2))
    with pytest.raises(ValueError, match="Expect `start_powerSGD_iter` > 1"):
        PowerSGDState(None, start_powerSGD_iter=1)


def test_the_list_of_hooks() -> None:
    @ranks()
    def program() -> list[float]:
        found = []
        for kind in DDPCommHookType:
            net = nn.Linear(1, 1, bias=False)
            model = DistributedDataParallel(net)
            register_ddp_comm_hook(kind, model)
            model(torch.full((1, 1), 1.0 + 2 * dist.get_rank())).sum().backward()
            found.append(net.weight.grad.item())
        return found

    near(program(), [[2.0] * 9 + [1.0], [2.0] * 9 + [3.0]])


def test_hooks_that_do_not_fit() -> None:
    @ranks(1)
    def program() -> None:
        model = DistributedDataParallel(nn.Linear(1, 1))
        with pytest.raises(TypeError, match="must be callable"):
            model.register_comm_hook(None, 1)  # type: ignore[arg-type]

        def wrong_bucket(state: Any, bucket: int) -> Any: ...

        def wrong_result(state: Any, bucket: Any) -> int:
            return 0

        wrong_bucket.__annotations__["bucket"] = int
        wrong_result.__annotations__["return"] = int
        del wrong_bucket.__annotations__["return"]
        with pytest.raises(ValueError, match="bucket annotation should be"):
            model.register_comm_hook(None, wrong_bucket)
        with pytest.raises(ValueError, match="return annotation should be"):
            model.register_comm_hook(None, wrong_result)
        model.register_comm_hook(None, allreduce_hook)
        with pytest.raises(RuntimeError, match="can only be called once"):
            model.register_comm_hook(None, allreduce_hook)

        def fails(state: Any, bucket: Any) -> Future[Any]:
            raise ZeroDivisionError("in a hook")

        failing = DistributedDataParallel(nn.Linear(1, 1))
        failing.register_comm_hook(None, fails)
        with pytest.raises(ZeroDivisionError, match="in a hook"):
            failing(torch.ones(1, 1)).sum().backward()

    program()


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


# --- uneven inputs ---


@pytest.mark.parametrize("options", [{}, {"find_unused_parameters": True}, {"gradient_as_bucket_view": True}])
@pytest.mark.parametrize("by_all", [True, False])
@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_ranks_with_fewer_inputs_join(by_all: bool, options: dict[str, Any]) -> None:
    """Rank 0 has 2 inputs, rank 1 has 5. The gradients of rank 1 alone are divided by 2, or by 1."""
    counts, rate = (2, 5), 0.1

    @ranks()
    def program() -> tuple[list[float], float]:
        rank = dist.get_rank()
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
        for p in net.parameters():
            nn.init.constant_(p, 0.5)
        model = DistributedDataParallel(net, bucket_cap_mb=1e-5, **options)
        optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        with model.join(divide_by_initial_world_size=by_all):
            for step in range(counts[rank]):
                optimizer.zero_grad()
                model(torch.arange(6, dtype=torch.float64).reshape(3, 2) * (step + 1 + rank)).sum().backward()
                optimizer.step()
        return torch.cat([p.detach().reshape(-1) for p in net.parameters()]).tolist(), net[1].running_mean.sum().item()

    def expected() -> list[float]:
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
        for p in net.parameters():
            nn.init.constant_(p, 0.5)
        for step in range(max(counts)):
            sums: list[Any] = [0] * len(list(net.parameters()))
            here = [rank for rank in (0, 1) if step < counts[rank]]
            for rank in here:
                net.zero_grad()
                net(torch.arange(6, dtype=torch.float64).reshape(3, 2) * (step + 1 + rank)).sum().backward()
                sums = [s + p.grad for s, p in zip(sums, net.parameters(), strict=True) if p.grad is not None]
            with torch.no_grad():
                for p, s in zip(net.parameters(), sums, strict=True):
                    p -= rate * s / (2 if by_all else len(here))
        return torch.cat([p.detach().reshape(-1) for p in net.parameters()]).tolist()

    (first, mean), (second, other_mean) = program()
    assert first == second and mean == other_mean
    near(first, expected())


def test_all_ranks_may_stop_with_the_first() -> None:
    @ranks()
    def program() -> tuple[str, int]:
        steps = 0
        model = DistributedDataParallel(nn.Linear(1, 1))

        def train() -> None:
            nonlocal steps
            with model.join(throw_on_early_termination=True):
                for _ in range(2 + 2 * dist.get_rank()):
                    model(torch.ones(1, 1)).sum().backward()
                    steps += 1

        with pytest.raises(RuntimeError) as error:
            train()
        return str(error.value), steps

    message = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
    assert program() == [("Rank 0 exhausted all inputs.", 2), (message, 2)]


def test_no_sync_in_join() -> None:
    """A rank without input takes part in a pass that reduces nothing."""

    @ranks()
    def program() -> list[float]:
        net = nn.Linear(1, 1, bias=False)
        nn.init.ones_(net.weight)
        model = DistributedDataParallel(net)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        with model.join():
            for _ in range(1 + dist.get_rank()):
                optimizer.zero_grad()
                with model.no_sync():
                    model(torch.ones(1, 1)).sum().backward()
                model(torch.ones(1, 1)).sum().backward()
                optimizer.step()
        return net.weight.tolist()

    # The first steps of both ranks subtract 0.5 * 2, the second one of rank 1 is divided by 2.
    assert program() == [[[-0.5]], [[-0.5]]]


def test_a_rank_without_input_has_zeros_for_each_gradient() -> None:
    """PowerSGD multiplies each gradient of a bucket by itself: a rank that saw none would call other collectives."""

    @ranks()
    def program() -> tuple[list[float], Any]:
        net = nn.Linear(4, 4, bias=False)
        model = DistributedDataParallel(net)
        state = PowerSGDState(None, 1, 1, use_error_feedback=False, warm_start=False)
        model.register_comm_hook(state, powerSGD_hook)
        with model.join():
            for _ in range(2 * dist.get_rank()):
                model(torch.ones(1, 4)).sum().backward()
                with torch.no_grad():
                    net.weight.sub_(net.weight.grad)
                net.zero_grad()
        return net.weight.reshape(-1).tolist(), model._authoritative_rank

    one, two = program()
    assert one == two and one[1] == 1


def test_join_without_effect_and_its_errors() -> None:
    class Counts(Joinable):
        def __init__(self, group: Any) -> None:
            super().__init__()
            self.group, self.seen = group, []

        def join_hook(self, **kwargs: Any) -> JoinHook:
            counter = self

            class Hook(JoinHook):
                def main_hook(self) -> None:
                    counter.seen.append("main")

                def post_hook(self, is_last_joiner: bool) -> None:
                    counter.seen.append(is_last_joiner)

            return Hook()

        @property
        def join_device(self) -> Any:
            return torch.device("cpu")

        @property
        def join_process_group(self) -> Any:
            return self.group

    @ranks()
    def program() -> list[Any]:
        world, rank = dist.group.WORLD, dist.get_rank()
        with pytest.raises(ValueError, match="requires at least one joinable"):
            Join([])
        with pytest.raises(ValueError, match="multiple process groups"):
            Join([Counts(world), Counts(dist.new_group([0, 1]))])
        counts = Counts(world)
        with Join([counts], enable=False):
            assert Join.notify_join_context(counts) is None
        with Join([counts]):
            for _ in range(1 + rank):
                work, number = Join.notify_join_context(counts)
                work.wait()
        with pytest.raises(ZeroDivisionError), Join([counts]):
            raise ZeroDivisionError
        return [*counts.seen, number.item()]

    assert program() == [["main", False, 2.0], [True, 1.0]]
    with pytest.raises(AssertionError, match="calls the ``Joinable`` constructor"):
        Join.notify_join_context(object())  # type: ignore[arg-type]
