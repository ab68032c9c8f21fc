"""The Reducer: buckets, the parameters that a pass does not use, and graphs that are said to be static.

Mirrors: test/distributed/test_c10d_common.py, test/distributed/test_c10d_gloo.py
"""

from __future__ import annotations

from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed._grad_bucket import GradBucket
from reftorch.distributed._reducer import _compute_bucket_assignment_by_size
from reftorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import Branch, Layers, batch, ranks

dist: Any = torch.distributed


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


# --- unused parameters, static graphs, models that differ ---


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
