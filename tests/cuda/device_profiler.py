"""The profiler on simulated devices: kernels as events, the ops that started them, streams, graphs, memory.

Run by test_devices.py, with and without blocking launches.

Mirrors: test/profiler/test_profiler.py
"""

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import cuda
from reftorch.autograd.profiler_util import DeviceType, EventList, FunctionEvent
from reftorch.profiler import ProfilerActivity, profile

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
BLOCKING = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"


def profiled(work: Callable[[], Any], **options: Any) -> EventList:
    with profile(activities=BOTH, **options) as prof:
        work()
    return prof.events()


def on_device(events: EventList) -> list[FunctionEvent]:
    return [event for event in events if event.device_type == DeviceType.CUDA]


def test_a_kernel_is_an_event_and_belongs_to_the_op_that_started_it() -> None:
    x = torch.ones(1000, device="cuda")
    events = profiled(lambda: x.exp().sum())
    exp, total = on_device(events)
    assert "elementwise_kernel" in exp.name and "reduce_kernel" in total.name
    assert (exp.device_index, exp.device_resource_id) == (0, 0)
    assert exp.metadata["block"][0] > 1 and exp.metadata["grid"][0] >= 1
    (op,) = (event for event in events if event.name == "aten::exp")
    assert [kernel.name for kernel in op.kernels] == [exp.name]
    assert op.device_time_total == op.self_device_time_total == exp.time_range.elapsed_us() > 0
    (launch,) = op.cpu_children
    assert launch.name == "cudaLaunchKernel" and exp.started_by is launch
    assert exp.cpu_time_total == 0 and exp.time_range.start >= launch.time_range.start
    if BLOCKING:
        assert exp.time_range.end <= launch.time_range.end


def test_the_op_around_has_the_time_of_the_kernels_inside_and_a_backward_pass_its_own() -> None:
    weight = torch.ones(8, 8, device="cuda", requires_grad=True)
    x = torch.ones(4, 8, device="cuda")
    events = profiled(lambda: torch.nn.functional.linear(x, weight).sum().backward())
    (linear,) = (event for event in events if event.name == "aten::linear")
    assert linear.self_device_time_total == 0
    assert linear.device_time_total == sum(child.device_time_total for child in linear.cpu_children) > 0
    node = next(event for event in events if event.name == "MmBackward0")
    assert node.device_time_total > 0
    assert sum(len(event.kernels) for event in events) == len(on_device(events))


def test_copies_and_waits_have_names() -> None:
    x = torch.ones(100)

    def work() -> None:
        y = x.cuda()
        y.zero_()
        y.clone()
        x.pin_memory().to("cuda", non_blocking=True)
        y.cpu()
        cuda.synchronize()

    events = profiled(work)
    copies = [event for event in on_device(events) if event.name.startswith("Memcpy")]
    assert {event.name for event in copies} >= {
        "Memcpy HtoD (Pageable -> Device)",
        "Memcpy HtoD (Pinned -> Device)",
        "Memcpy DtoH (Device -> Pageable)",
    }
    assert all(event.metadata["bytes"] == 400 for event in copies)
    assert {"cudaMemcpyAsync", "cudaDeviceSynchronize"} <= {event.name for event in events}


def test_streams_are_told_apart_and_overlap_unless_they_wait() -> None:
    x = torch.ones(1 << 14, device="cuda:1")
    streams = [cuda.Stream("cuda:1"), cuda.Stream("cuda:1")]

    def work() -> None:
        for stream in streams:
            with cuda.stream(stream):
                for _ in range(3):
                    x.exp()

    kernels = on_device(profiled(work))
    assert len(kernels) == 6 and {event.device_index for event in kernels} == {1}
    assert len({event.device_resource_id for event in kernels}) == 2
    for stream in {event.device_resource_id for event in kernels}:
        spans = [event.time_range for event in kernels if event.device_resource_id == stream]
        assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_a_replayed_graph_is_one_call_and_all_its_kernels() -> None:
    x = torch.ones(64, device="cuda")
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        (x * 2).sum()
    events = profiled(lambda: [graph.replay() for _ in range(2)])
    assert [event.name for event in events if event.device_type == DeviceType.CPU].count("cudaGraphLaunch") == 2
    assert len(on_device(events)) >= 4
    assert all(event.started_by is None or event.started_by.name == "cudaGraphLaunch" for event in on_device(events))


def test_the_table_has_columns_of_the_device_and_sorts_by_them() -> None:
    x = torch.ones(1000, device="cuda")
    events = profiled(lambda: [x.exp() for _ in range(3)], profile_memory=True)
    averages = events.key_averages()
    (exp,) = (average for average in averages if average.key == "aten::exp")
    assert exp.device_time == exp.device_time_total / 3 and exp.self_device_memory_usage >= 0
    table = averages.table(sort_by="self_cuda_time_total", row_limit=2)
    assert all(title in table for title in ("Self CUDA %", "CUDA total", "CUDA time avg", "Self CUDA time total"))
    rows = [line for line in table.splitlines() if "exp" in line or "elementwise" in line]
    assert len(rows) == 2
    total = sum(event.time_range.elapsed_us() for event in on_device(events))
    assert f"Self CUDA time total: {exp.device_time_total_str}" in table
    assert exp.device_time_total == pytest.approx(total)
    with pytest.warns(FutureWarning, match="`cuda_time_total` is deprecated"):
        assert exp.cuda_time_total == exp.device_time_total


def test_memory_of_the_device_is_counted() -> None:
    kept = []
    events = profiled(lambda: kept.append(torch.empty(1 << 20, device="cuda")), profile_memory=True)
    (empty,) = (event for event in events if event.name == "aten::empty")
    assert empty.device_memory_usage == empty.self_device_memory_usage == 4 << 20
    assert empty.cpu_memory_usage == 0
    assert "CUDA Mem" in events.table() and "4.00 MB" in events.table()


def test_the_trace_has_a_row_for_each_stream_and_an_arrow_to_each_kernel(tmp_path: Path) -> None:
    x = torch.ones(10, device="cuda")
    with profile(activities=BOTH) as prof:
        x + x
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (kernel,) = (event for event in trace if event["cat"] == "kernel")
    assert (kernel["pid"], kernel["tid"]) == ("GPU 0", "stream 0")
    begin, end = (event for event in trace if event["cat"] == "ac2g")
    assert (begin["ph"], end["ph"], begin["id"]) == ("s", "f", end["id"])
    assert (end["ts"], end["pid"]) == (kernel["ts"], "GPU 0") and begin["pid"] == "CPU functions"


def test_stacks_and_only_the_device(tmp_path: Path) -> None:
    x = torch.ones(1000, device="cuda")
    with profile(activities=BOTH, with_stack=True) as prof:
        x.exp()
    path = tmp_path / "stacks"
    prof.export_stacks(str(path), "self_cuda_time_total")
    assert "device_profiler.py" in path.read_text()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        x.exp()
    assert [event.device_type for event in prof.events()] == [DeviceType.CUDA]
    assert torch.profiler.supported_activities() == set(BOTH)


def test_nothing_is_recorded_afterwards_and_without_the_option() -> None:
    x = torch.ones(10, device="cuda")
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        x + x
    assert [event.name for event in prof.events()] == ["aten::add"]
    x + x
    cuda.synchronize()
    assert torch._C._cuda_stop_activities() == []  # a second end of the same recording
    assert len(on_device(profiled(lambda: x + x))) == 1
