"""What torch.cuda offers beside ops on a simulated device or on a GPU: run by test_devices.py.

The file is more than 500 lines long, because a process for each part would take longer than the tests.

Mirrors: test/test_cuda.py
"""

import ctypes
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import cuda
from reftorch.cuda import _memory_viz, nccl
from reftorch.utils.viz._cycles import observe_tensor_cycles

MIB = 1 << 20


@pytest.fixture(autouse=True)
def empty_device() -> Iterator[None]:
    gc.collect()
    cuda.synchronize()
    cuda.empty_cache()
    yield
    cuda.memory._set_allocator_settings("")
    cuda.set_per_process_memory_fraction(1.0)
    cuda.memory._record_memory_history(None)


def floats(mib: int) -> torch.Tensor:
    return torch.empty(mib * MIB // 4, device="cuda")


# ---- pinned memory ----


def test_counters_of_pinned_memory() -> None:
    gc.collect()
    torch._C._host_emptyCache()
    cuda.reset_accumulated_host_memory_stats()
    cuda.reset_peak_host_memory_stats()
    x = torch.ones(10 * 1024, pin_memory=True)  # 40 KiB become 64 KiB
    stats = cuda.host_memory_stats()
    assert stats["allocations.current"] == stats["active_requests.peak"] == stats["num_host_alloc"] == 1
    assert stats["allocated_bytes.current"] == stats["active_bytes.allocated"] == 64 * 1024
    assert stats["host_alloc_time.count"] == 1 and stats["host_free_time.count"] == 0
    place = x.data_ptr()
    del x
    stats = cuda.host_memory_stats()
    assert (stats["active_bytes.current"], stats["active_bytes.freed"], stats["allocated_bytes.current"]) == (
        0,
        64 * 1024,
        64 * 1024,
    )
    assert torch.empty(9 * 1024, pin_memory=True).data_ptr() == place
    torch._C._host_emptyCache()
    assert cuda.host_memory_stats_as_nested_dict()["num_host_alloc"] == 0  # nothing is left, so counting begins again


def test_memory_of_the_program_becomes_pinned() -> None:
    cudart, x = cuda.cudart(), torch.ones(20)
    assert not x.is_pinned()
    assert cudart.cudaHostRegister(x.data_ptr(), x.nbytes, 0) == 0
    try:
        assert x.is_pinned() and not torch.ones(20).is_pinned()
        with pytest.raises(cuda.CudaError, match="already mapped"):
            cuda.check_error(cudart.cudaHostRegister(x.data_ptr() + 4, 8, 0))
        assert torch.equal(x.to("cuda", non_blocking=True).cpu(), x)
    finally:
        assert cudart.cudaHostUnregister(x.data_ptr()) == 0
    assert not x.is_pinned() and cudart.cudaHostUnregister(x.data_ptr()) != 0
    assert cudart.cudaHostRegister(0, 0, 0) == cudart.cudaError.invalidValue


def test_bytes_are_converted_after_the_copy_that_writes_them() -> None:
    x, host, y = torch.ones(1, device="cuda"), torch.zeros(1, pin_memory=True), torch.zeros(1, device="cuda").long()
    cuda._sleep(5_000_000)
    host.copy_(x, non_blocking=True)
    y.copy_(host, non_blocking=True)
    assert y.item() == 1


# ---- memory of a device ----


def test_more_than_an_exabyte() -> None:
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate more than 1EB memory"):
        torch.empty(4 << 60, dtype=torch.uint8, device="cuda")
    assert torch.ones(2, device="cuda").sum().item() == 2


def test_the_context_of_the_process_takes_memory() -> None:
    half = cuda.get_device_properties(0).total_memory // 2
    x = torch.empty(half, dtype=torch.uint8, device="cuda")
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(half, dtype=torch.uint8, device="cuda")
    del x
    assert torch.empty(half, dtype=torch.uint8, device="cuda").numel() == half


def test_settings_that_are_not_named_get_their_defaults() -> None:
    cuda.memory._set_allocator_settings("roundup_power2_divisions:4")
    x = floats(21)
    assert cuda.memory_stats()["allocated_bytes.all.current"] == 24 * MIB
    cuda.memory._set_allocator_settings("garbage_collection_threshold:0.5")
    del x
    x = floats(21)
    assert cuda.memory_stats()["allocated_bytes.all.current"] == 21 * MIB == x.nbytes


def test_observers_of_errors() -> None:
    seen: list[tuple[int, ...]] = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *facts: seen.append(facts))
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    device, asked, total, free = seen[-1]
    assert device == 0 and asked >= 1 << 40 and total == cuda.get_device_properties(0).total_memory and free < total


def test_an_error_of_cuda_has_a_number() -> None:
    assert issubclass(torch.AcceleratorError, RuntimeError) and cuda.AcceleratorError is torch.AcceleratorError
    graph = cuda.CUDAGraph()
    with cuda.stream(cuda.Stream()):
        graph.capture_begin()
        with pytest.raises(torch.AcceleratorError, match="CUDA error") as error:
            torch.ones(1, device="cuda").item()
        assert error.value.error_code == 900  # cudaErrorStreamCaptureUnsupported
        with pytest.raises(torch.AcceleratorError):
            graph.capture_end()


def test_raw_memory_without_the_cache() -> None:
    requested = "requested_bytes.all.allocated"
    before = cuda.memory_stats()[requested]
    cuda.caching_allocator_enable(False)
    try:
        place = torch._C._cuda_cudaCachingAllocator_raw_alloc(MIB, torch._C._cuda_getCurrentRawStream(0))
        assert cuda.memory_stats()[requested] == before
        torch._C._cuda_cudaCachingAllocator_raw_delete(place)
    finally:
        cuda.caching_allocator_enable(True)
    torch._C._cuda_cudaCachingAllocator_raw_delete(torch._C._cuda_cudaCachingAllocator_raw_alloc(MIB, 0))
    assert cuda.memory_stats()[requested] == before + MIB


def test_pools_that_do_not_split() -> None:
    split, whole = cuda.MemPool(), cuda.MemPool(no_split=True)
    kept = []
    for _ in range(2):
        for pool in (split, whole):
            with cuda.use_mem_pool(pool):
                kept.append(floats(4))
    assert len(split.snapshot()) == 1 and [len(s["blocks"]) for s in whole.snapshot()] == [1, 1]
    assert whole.allocator is None


def test_pools_that_help_when_the_device_is_full() -> None:
    spare, closed = cuda.MemPool(use_on_oom=True), cuda.MemPool()
    with cuda.use_mem_pool(spare):
        x = floats(40)
    with cuda.use_mem_pool(closed):
        y = floats(40)
    place, reserved = x.data_ptr(), cuda.memory_reserved()
    cuda.set_per_process_memory_fraction(reserved / cuda.get_device_properties(0).total_memory)
    with pytest.raises(torch.OutOfMemoryError):
        floats(30)
    del x, y
    z = floats(30)
    assert z.data_ptr() == place
    with pytest.raises(torch.OutOfMemoryError):
        floats(30)


def test_pools_inside_of_pools() -> None:
    outer, inner = cuda.MemPool(), cuda.MemPool()
    with cuda.use_mem_pool(outer):
        kept = [floats(20)]
        with cuda.use_mem_pool(inner):
            kept.append(floats(20))
        kept.append(floats(20))
    assert [len(pool.snapshot()) for pool in (outer, inner)] == [2, 1]
    live = {x.data_ptr() for x in kept}
    assert torch._C._cuda_checkPoolLiveAllocations(0, inner.id, {kept[1].data_ptr()})
    assert not torch._C._cuda_checkPoolLiveAllocations(0, inner.id, live)
    assert not torch._C._cuda_checkPoolLiveAllocations(0, inner.id, set())


# ---- history and its pictures ----


def test_each_event_has_the_text_of_the_program() -> None:
    cuda.memory._set_memory_metadata("epoch 1")
    cuda.memory._record_memory_history()
    x = torch.ones(3, device="cuda")
    assert cuda.memory._get_memory_metadata() == "epoch 1"
    cuda.memory._set_memory_metadata("")
    del x
    texts = [event["user_metadata"] for event in cuda.memory._snapshot()["device_traces"][0]]
    assert texts[0] == "epoch 1" and texts[-1] == ""


@pytest.mark.parametrize("context", ["alloc", "all", "state"])
def test_which_stacks_are_recorded(context: Any) -> None:
    def make_it() -> torch.Tensor:
        return torch.ones(3, device="cuda")

    cuda.memory._record_memory_history(context=context)
    x = make_it()
    del x
    cuda.memory.empty_cache()
    text = json.dumps(cuda.memory._snapshot())
    assert ('"make_it"' in text) == (context != "state")
    assert ('"empty_cache"' in text) == (context == "all")  # it releases Python's lock while it works


def test_pictures_of_a_snapshot(tmp_path: Path) -> None:
    cuda.memory._record_memory_history("state")  # means the same as "all"
    kept, gone = floats(1), torch.ones(3, device="cuda")
    del gone
    snapshot = cuda.memory._snapshot()
    here = Path(__file__).name
    assert snapshot["device_traces"][0][0]["action"] == "segment_alloc"
    whole, alive = _memory_viz.trace_plot(snapshot), _memory_viz.trace_plot(snapshot, filter_freed=True)
    assert whole.count("<rect") == 3 and alive.count("<rect") == 1 and here in alive
    assert _memory_viz.segment_plot(snapshot).count("<rect") == sum(len(s["blocks"]) for s in snapshot["segments"])
    assert "1.0MiB of 2.0MiB" in _memory_viz.segsum(snapshot) and here in _memory_viz.trace(snapshot)
    for save in (cuda.memory._save_segment_usage, cuda.memory._save_memory_usage):
        save(str(tmp_path / "picture.svg"))
        assert here in (tmp_path / "picture.svg").read_text()
    assert kept.numel() == MIB // 4
    with pytest.raises(ValueError, match="choose one of them"):
        _memory_viz.trace_plot({"device_traces": [[{}], [{}]], "segments": []})


def test_cycles_that_hold_tensors() -> None:
    pages: list[str] = []
    stop = observe_tensor_cycles(pages.append)
    try:
        gc.collect()

        def make_cycle() -> None:
            x = torch.empty(3, 4, device="cuda")

            def inner(again: bool) -> Any:
                return inner(not again) if again else x

        make_cycle()
        gc.collect()
        len(pages)
        (page,) = pages
    finally:
        stop()
        gc.collect()
    assert "torch.Tensor of shape (3, 4)" in page and "cell_contents" in page and "device_api.py" in page


# ---- streams, generators, properties ----


def test_streams_of_other_libraries() -> None:
    handle = ctypes.c_ulonglong(0)
    with cuda.device(1):
        assert cuda.cudart().cudaStreamCreate(ctypes.addressof(handle)) == 0
    try:
        for stream in (
            cuda.ExternalStream(handle.value, device=cuda.device(1)),
            cuda.get_stream_from_external(handle.value, 1),
        ):
            assert stream.cuda_stream == handle.value and stream.device == torch.device("cuda:1")
            assert stream.__cuda_stream__() == (0, handle.value) and stream._as_parameter_.value == handle.value
            event = stream.record_event()
            assert event._as_parameter_.value == event.cuda_event != 0
            with cuda.stream(stream):
                x = torch.ones(3, device="cuda:1") * 2
            stream.synchronize()
            assert x.sum().item() == 6
    finally:
        del x
        cuda.empty_cache()
        assert cuda.cudart().cudaStreamDestroy(handle.value) == 0
    with pytest.raises(ValueError, match="expected the handle of a stream"):
        cuda.ExternalStream(3)


OTHER_PROCESS = """
import sys, reftorch as torch
first, second = (torch.cuda.Event.from_ipc_handle(0, bytes.fromhex(handle)) for handle in sys.argv[1:])
assert first.query() and second.query()  # nobody has recorded them
torch.ones(3, device="cuda").add_(1)
first.record()
torch.cuda.synchronize()
torch.cuda._sleep(1 << 60)
second.record()
print("recorded", flush=True)
sys.stdin.read()
"""


def test_an_event_that_another_process_records() -> None:
    first, second = cuda.Event(interprocess=True), cuda.Event(interprocess=True)
    handles = [event.ipc_handle().hex() for event in (first, second)]
    command = [sys.executable, "-c", OTHER_PROCESS, *handles]
    env = os.environ | {"CUDA_LAUNCH_BLOCKING": "0"}  # or the process would wait for its endless kernel
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None and other.stdout.readline() == "recorded\n"
            cuda.current_stream().wait_event(first)
            assert torch.ones(3, device="cuda").sum().item() == 3
            assert first.query() and not second.query()
        finally:
            other.kill()
    second.synchronize()  # a process that was killed is not waited for
    cuda.current_stream().wait_event(second)
    assert torch.ones(3, device="cuda").sum().item() == 3 and second.query()


def test_events_are_sent_by_their_handles() -> None:
    event = cuda.Event(interprocess=True)
    with cuda.stream(cuda.Stream()):
        event.record()
    copy = pickle.loads(ForkingPickler.dumps(event))
    assert copy.device == event.device == torch.device("cuda:0")
    copy.synchronize()
    copy.record()
    event.synchronize()
    assert event.query() and copy.query()
    with pytest.raises(RuntimeError, match="expects byte-like object of size 64, but got 3"):
        cuda.Event.from_ipc_handle(0, b"abc")
    for wrong in (bytes(64), b"cudasim event 1 0 0".ljust(64, b"\0")):
        with pytest.raises(RuntimeError, match="CUDA error"):
            cuda.Event.from_ipc_handle(0, wrong)
    with pytest.raises(RuntimeError, match="CUDA error"):
        cuda.Event().ipc_handle()
    with pytest.raises(RuntimeError, match="CUDA error: invalid argument"):
        cuda.Event(enable_timing=True, interprocess=True).record()


def test_events_of_two_devices() -> None:
    low, high = cuda.Stream.priority_range()
    assert [cuda.Stream(1, priority=number).priority for number in (low, high, -7, 3)] == [0, -1, -1, 0]
    events = [cuda.Event(enable_timing=True) for _ in range(2)]
    assert events[0].device is None
    for index, event in enumerate(events):
        cuda.Stream(index).record_event(event)
        event.synchronize()
    assert events[1].device == torch.device("cuda:1")
    with pytest.raises(RuntimeError, match="Event device index 0 does not match other's device index 1"):
        events[0].elapsed_time(events[1])


def test_a_stream_says_whether_it_captures() -> None:
    stream, graph = torch.Stream("cuda"), cuda.CUDAGraph()
    mine = cuda.Stream(stream_id=stream.stream_id, device_index=0, device_type=stream.device_type)
    assert not mine.is_capturing() and not torch.Stream("cpu").is_capturing()
    with cuda.stream(mine):
        graph.capture_begin()
        torch.ones(1, device="cuda")
        assert mine.is_capturing() and stream.is_capturing() and not cuda.default_stream().is_capturing()
        graph.capture_end()
    assert not mine.is_capturing()


def test_generators_that_share_a_state() -> None:
    generator = torch.Generator("cuda").manual_seed(3)
    shared, copied = generator.graphsafe_get_state(), generator.clone_state()
    first = torch.rand(3, device="cuda", generator=generator)
    assert shared.get_offset() == generator.get_offset() > copied.get_offset()
    generator.graphsafe_set_state(copied)
    assert torch.equal(torch.rand(3, device="cuda", generator=generator), first)
    assert copied.get_offset() == shared.get_offset()
    with pytest.raises(NotImplementedError, match="graphsafe_get_state is not supported"):
        torch.Generator().graphsafe_get_state()
    with pytest.raises(RuntimeError, match="expected a generator of a CUDA device"):
        generator.graphsafe_set_state(torch.Generator())
    cuda._set_rng_state_offset(100)
    assert cuda._get_rng_state_offset() == 100


def test_a_graph_draws_from_the_states_that_it_knows() -> None:
    generator, graph = cuda.default_generators[0], cuda.CUDAGraph()
    generator.manual_seed(5)
    own, other = generator.graphsafe_get_state(), generator.clone_state()
    graph.register_generator_state(other)
    with cuda.graph(graph):
        generator.graphsafe_set_state(other)
        x = torch.rand(3, device="cuda")
        generator.graphsafe_set_state(own)
        y = torch.rand(3, device="cuda")
    graph.replay()
    first = x.clone()
    assert torch.equal(x, y) and own.get_offset() == other.get_offset() > 0
    graph.replay()
    assert torch.equal(x, y) and not torch.equal(x, first)


def test_facts_about_a_device() -> None:
    facts = cuda.get_device_properties(1)
    assert len(str(facts.uuid)) == 36 and len(facts.uuid.bytes) == 16 and facts.shared_memory_per_block_optin > 0
    assert str(facts.uuid) != str(cuda.get_device_properties(0).uuid)
    assert torch.get_device_module() is torch.get_device_module("cuda:1") is cuda
    assert torch.float64 in torch.accelerator.get_device_capability(1)["supported_dtypes"]
    with pytest.raises(RuntimeError, match="there is no device 7"):
        torch.accelerator.get_device_capability(7)
    first, second = torch.accelerator.generate_graph_pool_handle(), cuda.graph_pool_handle()
    assert first[0] == second[0] == 0 and first[1] < second[1]
    assert cuda.current_blas_handle() == cuda.current_blas_handle() != 0
    assert "pynvml" in cuda.list_gpu_processes() and not cuda._HAS_PYNVML


def test_storages_on_a_device() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # typed storages are deprecated
        x = torch.arange(3, dtype=torch.float32).storage()
        there = x.cuda(1)
        assert isinstance(there, cuda.FloatStorage) and not isinstance(there, torch.FloatStorage)
        assert isinstance(there.double(), cuda.DoubleStorage) and isinstance(there.cpu().int(), torch.IntStorage)
        assert there.get_device() == there.short().get_device() == there.clone().get_device() == 1
        assert there.type() == "torch.cuda.FloatStorage" and "device=cuda:1" in str(there) and x.get_device() == -1
        assert there.cuda(1) is there and there.to(device="cuda:0").get_device() == 0
        filled = cuda.IntStorage(2).fill_(7)
        assert filled.tolist() == [7, 7] and filled.is_cuda and cuda.LongStorage([1, 2]).is_cuda
        assert x.pin_memory().is_pinned() and not x.is_pinned()
        with pytest.raises(TypeError, match="only memory of the CPU"):
            there.pin_memory()
        with pytest.raises(RuntimeError, match="Expected wrap_storage to be on a cuda device"):
            cuda.FloatStorage(wrap_storage=x)


# ---- several devices, optimizers in graphs ----


def test_sums_over_devices() -> None:
    def parts() -> list[torch.Tensor]:
        return [torch.tensor([1.0, 2.0], device="cuda:0"), torch.tensor([3.0, 5.0], device="cuda:1")]

    def empties(size: int) -> list[torch.Tensor]:
        return [torch.zeros(size, device=f"cuda:{index}") for index in range(2)]

    x = parts()
    nccl.all_reduce(x)
    assert [t.tolist() for t in x] == [[4.0, 7.0]] * 2
    x = parts()
    nccl.reduce(x, root=1, op=2)
    assert [t.tolist() for t in x] == [[1.0, 2.0], [3.0, 5.0]]
    nccl.broadcast(x, root=1)
    assert x[0].tolist() == [3.0, 5.0]
    gathered, pieces = empties(4), empties(1)
    nccl.all_gather(parts(), gathered)
    nccl.reduce_scatter(parts(), pieces)
    assert gathered[1].tolist() == [1.0, 2.0, 3.0, 5.0] and [t.item() for t in pieces] == [4.0, 7.0]
    with pytest.raises(TypeError, match="collection of tensors"):
        nccl.all_reduce(x[0])
    with pytest.raises(RuntimeError, match="each on a device of its own"):
        nccl.all_reduce([x[0], x[0]])
    with pytest.raises(RuntimeError, match="expected 2 elements, but tensor 1 has 1"):
        nccl.all_reduce([x[0], pieces[1]])
    with pytest.raises(RuntimeError, match="number of an operation"):
        nccl.all_reduce(parts(), op=9)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "ASGD", "Adamax", "NAdam", "RAdam", "Adadelta", "RMSprop", "Rprop"])
@pytest.mark.parametrize("foreach", [False, True])
def test_a_graph_contains_the_step_of_an_optimizer(name: str, foreach: bool) -> None:
    def parameter() -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.linspace(1, 2, 3, device="cuda"))

    eager, graphed = parameter(), parameter()
    gradients = [torch.linspace(-1, i, 3, device="cuda") for i in range(8)]
    optimizer = getattr(torch.optim, name)
    reference = optimizer([eager], lr=0.1)
    captured = optimizer([graphed], lr=0.1, capturable=True, foreach=foreach)
    for gradient in gradients:
        eager.grad = gradient.clone()
        reference.step()
    graphed.grad = gradients[0].clone()
    captured.step()
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        captured.step()
    for gradient in gradients[1:]:
        graphed.grad.copy_(gradient)
        graph.replay()
    torch.testing.assert_close(graphed, eager)
    assert captured.state[graphed]["step"].is_cuda and captured.state[graphed]["step"].item() == 8


def test_a_graph_contains_the_update_of_a_scale() -> None:
    parameter = torch.ones(3, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([parameter], lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0, growth_interval=2)
    scaler.scale(torch.ones(1, device="cuda"))
    parameter.grad = torch.zeros(3, device="cuda")
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        scaler.step(optimizer)
        scaler.update()
    seen = []
    for value in (4.0, float("inf"), 2.0, 2.0, 4.0):
        parameter.grad.fill_(value)
        graph.replay()
        seen.append((scaler.get_scale(), scaler._get_growth_tracker(), round(parameter[0].item(), 4)))
    assert seen == [(4.0, 1, 0.9), (2.0, 0, 0.9), (2.0, 1, 0.8), (4.0, 0, 0.7), (4.0, 1, 0.6)]


def test_threads_that_make_pools() -> None:
    ids: list[tuple[int, int]] = []
    threads = [threading.Thread(target=lambda: ids.append(cuda.MemPool().id)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 4
