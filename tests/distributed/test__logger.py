"""What DistributedDataParallel knows about itself: the same data as torch, times in order, errors, and no cost else.

Mirrors: test/distributed/test_c10d_logger.py, torch/testing/_internal/distributed/distributed_test.py (logging data)
"""

from __future__ import annotations

import time
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed._logger import Logger
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import Branch, play, ranks

dist: Any = torch.distributed
NAMES = ("forward_compute_time", "backward_compute_time", "backward_comm_time", "backward_compute_comm_overlap_time")
KEPT: list[Any] = []  # torch's gloo may wait for the GIL on its thread, and its destructor for the thread with the GIL
OWN = {"gloo_num_threads", "can_set_static_graph"}  # here our threads are counted; torch leaves the second one out


def numbers(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if "_time" not in name and name not in OWN}


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_the_data_are_those_of_torch(real_torch: Any) -> None:
    def data(lib: Any, options: dict[str, Any]) -> list[Any]:
        def program(group: Any, rank: int) -> Any:
            class Net(lib.nn.Module):
                def __init__(self) -> None:
                    super().__init__()
                    self.a, self.b = lib.nn.Linear(2, 3), lib.nn.Linear(3, 1).double()
                    if "bucket_cap_mb" not in options:
                        self.c = lib.nn.Linear(1, 1)

                def forward(self, x: Any) -> Any:
                    return self.b(self.a(x).double())

            model = lib.nn.parallel.DistributedDataParallel(Net(), process_group=group, **options)
            found = [numbers(model._get_ddp_logging_data())]
            for _ in range(3):
                model(lib.ones(2, 2)).sum().backward()
                found.append(numbers(model._get_ddp_logging_data()))
            KEPT.append((model, group))
            return found

        return play(lib, 2, program)

    for options in ({"bucket_cap_mb": 1e-5}, {"find_unused_parameters": True}, {"static_graph": True}):
        for ours, theirs in zip(data(torch, options), data(real_torch, options), strict=True):
            for here, there in zip(ours, theirs, strict=True):
                if "static_graph" in options:  # torch does not count the buckets of the first pass
                    assert here.pop("num_buckets_reduced", 2) == 2 and there.pop("num_buckets_reduced", 0) in (0, 2)
                assert here == there, options


def test_times_are_in_order_and_show_the_overlap() -> None:
    @ranks()
    def program() -> None:
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
        model = DistributedDataParallel(net, bucket_cap_mb=1e-5)

        def slow(state: Any, bucket: Any) -> Any:
            time.sleep(0.02)  # in the autograd thread: counts as computation, too
            return torch.distributed.algorithms.ddp_comm_hooks.default.allreduce_hook(state, bucket)

        model.register_comm_hook(None, slow)
        net[0].register_forward_pre_hook(lambda module, inputs: time.sleep(0.01))
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
        data = model._get_ddp_logging_data()
        forward, backward, communication, overlap = (data[name] for name in NAMES)
        assert forward >= 10e6 and overlap >= 40e6  # nanoseconds; two buckets
        assert overlap <= min(backward, communication)
        moments = [
            data[name]
            for name in (
                "forward_compute_time_start",
                "backward_compute_time_start",
                "backward_comm_time_start",
                "backward_compute_time_end",
                "backward_comm_time_end",
            )
        ]
        assert moments == sorted(moments) and data["iteration"] == 2
        assert data["rebuilt_per_bucket_param_indices"] == "1, 0" and data["num_buckets_reduced"] == 2

    program()


def test_few_passes_are_sampled() -> None:
    @ranks(1)
    def program() -> list[int]:
        model = DistributedDataParallel(nn.Linear(1, 1))
        with pytest.raises(ValueError, match="sample rate should be equal or greater than 1"):
            model._set_ddp_runtime_logging_sample_rate(0)
        assert "equal or greater than 1" in model._get_ddp_logging_data()["error"]
        model._set_ddp_runtime_logging_sample_rate(7)
        seen = []
        for _ in range(30):
            model(torch.ones(1, 1)).sum().backward()
            seen.append(model.reducer.times is not None)
        return [i + 1 for i, is_sampled in enumerate(seen) if is_sampled]

    assert program() == [[*range(1, 11), 14, 21, 28]]


def test_a_mean_counts_a_pass_without_backward_as_nothing() -> None:
    @ranks(1)
    def program() -> None:
        model = DistributedDataParallel(nn.Linear(1, 1))
        model.reducer.num_iterations = 1
        model.reducer.times = {"forward_compute_start": 5, "backward_compute_start": 9}
        model.logger.set_runtime_stats_and_log()
        assert model._get_ddp_logging_data()["avg_forward_compute_time"] == 4
        model.reducer.times = {"forward_compute_start": 5, "backward_compute_start": 7, "backward_compute_end": 17}
        model.logger.set_runtime_stats_and_log()
        data = model._get_ddp_logging_data()
        assert (data["avg_forward_compute_time"], data["backward_compute_time"]) == (3, 10)
        assert (data["avg_backward_compute_time"], data["backward_comm_time"]) == (5, 0)

    program()


def test_errors_and_hooks_are_noted() -> None:
    @ranks(1)
    def program() -> None:
        model = DistributedDataParallel(Branch())
        assert "error" not in model._get_ddp_logging_data() and "comm_hook" not in model._get_ddp_logging_data()
        model(torch.ones(1, 2)).sum().backward()
        with pytest.raises(RuntimeError) as error:
            model(torch.ones(1, 2))
        data = model._get_ddp_logging_data()
        assert data["error"] == str(error.value) and data["has_error"] == 1
        with pytest.raises(TypeError):
            model.register_comm_hook(None, 1)  # type: ignore[arg-type]
        assert "Communication hook must be callable" in model._get_ddp_logging_data()["error"]
        hook = dist.algorithms.ddp_comm_hooks.default.allreduce_hook
        model.register_comm_hook(None, hook)
        assert model._get_ddp_logging_data()["comm_hook"] == "allreduce_hook"
        other = DistributedDataParallel(nn.Linear(1, 1))
        other._register_builtin_comm_hook(dist.BuiltinCommHookType.ALLREDUCE)
        assert other._get_ddp_logging_data()["comm_hook"] == "BuiltinCommHookType.ALLREDUCE"

    program()


def test_layers_devices_and_joins_are_noted() -> None:
    @ranks()
    def program() -> list[Any]:
        model = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(2)))
        before = model._get_ddp_logging_data()
        with model.join():
            pass
        after = model._get_ddp_logging_data()
        return [before["has_sync_bn"], "join_uneven_inputs" in before, after["join_uneven_inputs"], after["rank"]]

    assert program() == [[1, False, True, 0], [1, False, True, 1]]


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_a_graph_that_never_changes_may_be_static() -> None:
    @ranks()
    def program() -> list[int]:
        net = Branch()
        model = DistributedDataParallel(net, find_unused_parameters=True)
        seen = []
        for both in (False, False, True, True):
            net.both = both
            output = model(torch.ones(1, 2))
            sum(t.sum() for t in (output if both else [output])).backward()
            seen.append(int(model.reducer._ddp_graph_static()))
        model(torch.ones(1, 2))
        return [*seen, model._get_ddp_logging_data()["can_set_static_graph"]]

    assert program() == [[1, 1, 0, 0, 0]] * 2


def test_the_logger_is_public() -> None:
    assert dist.Logger is Logger
