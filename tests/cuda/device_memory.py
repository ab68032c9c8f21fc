"""The caching allocator on a simulated device or on a GPU: run by test_devices.py, with and without blocking launches.

Mirrors: test/test_cuda.py
"""

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import cuda
from tests.cuda import threads

KIB, MIB = 1 << 10, 1 << 20
NO_LIMIT = "max_split_size_mb:8000000000000"


@pytest.fixture(autouse=True)
def empty_device() -> Iterator[None]:
    gc.collect()
    cuda.synchronize()
    cuda.empty_cache()
    cuda.reset_accumulated_memory_stats()
    cuda.reset_peak_memory_stats()
    yield
    cuda.memory._set_allocator_settings(NO_LIMIT)
    cuda.set_per_process_memory_fraction(1.0)
    cuda.memory._record_memory_history(None)


def bytes_on_device(n: int) -> torch.Tensor:
    return torch.empty(n, dtype=torch.uint8, device="cuda")


def segment_of(tensor: torch.Tensor) -> dict[str, Any]:
    address = tensor.data_ptr()
    (found,) = (s for s in cuda.memory_snapshot() if 0 <= address - s["address"] < s["total_size"])
    return found


def layout(tensor: torch.Tensor) -> list[tuple[int, str]]:
    return [(block["size"], block["state"]) for block in segment_of(tensor)["blocks"]]


@pytest.mark.parametrize(
    ("request_size", "block", "segment", "kind"),
    [
        (1, 512, 2 * MIB, "small"),
        (513, 1024, 2 * MIB, "small"),
        (MIB, MIB, 2 * MIB, "small"),
        (MIB + 1, MIB + 512, 20 * MIB, "large"),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB, "large"),
        (10 * MIB, 10 * MIB, 10 * MIB, "large"),
        (11 * MIB + 1, 11 * MIB + 512, 12 * MIB, "large"),
    ],
)
def test_the_sizes_of_blocks_and_segments(request_size: int, block: int, segment: int, kind: str) -> None:
    x = bytes_on_device(request_size)
    found = segment_of(x)
    assert (found["total_size"], found["segment_type"]) == (segment, kind)
    first = found["blocks"][0]
    # The rest of a large segment is too small for a block of its own if it has at most 1 MiB.
    owns_rest = kind == "large" and segment - block <= MIB
    assert first["size"] == (segment if owns_rest else block) and first["requested_size"] == request_size
    assert found["requested_size"] == request_size and found["active_size"] == first["size"]


def test_blocks_are_split_and_merged() -> None:
    a, b, c = (bytes_on_device(512) for _ in range(3))
    assert b.data_ptr() - a.data_ptr() == c.data_ptr() - b.data_ptr() == 512
    rest = (2 * MIB - 3 * 512, "inactive")
    used, free = (512, "active_allocated"), (512, "inactive")
    assert layout(a) == [used, used, used, rest]
    del b
    assert layout(a) == [used, free, used, rest]
    stats = cuda.memory_stats()
    assert stats["inactive_split.all.current"] == 2
    assert stats["inactive_split_bytes.small_pool.current"] == 2 * MIB - 2 * 512
    del c
    assert layout(a) == [used, (2 * MIB - 512, "inactive")]
    assert cuda.memory_stats()["inactive_split.all.current"] == 1
    cuda.empty_cache()
    assert cuda.memory_reserved() == 2 * MIB, "a segment stays while one of its blocks is in use"
    del a
    assert cuda.memory_stats()["inactive_split.all.current"] == 0
    cuda.empty_cache()
    assert cuda.memory_reserved() == 0 and cuda.memory_stats()["segment.all.freed"] == 1


def test_the_smallest_block_that_is_large_enough_is_taken() -> None:
    keep = []
    holes = []
    for size in (4 * KIB, 2 * KIB, 8 * KIB):
        holes.append(bytes_on_device(size))
        keep.append(bytes_on_device(512))
    places = [hole.data_ptr() for hole in holes]
    del holes
    assert bytes_on_device(1500).data_ptr() == places[1]
    assert bytes_on_device(3000).data_ptr() == places[0]


def test_a_block_belongs_to_its_stream() -> None:
    x = bytes_on_device(512)
    place = x.data_ptr()
    del x
    with cuda.stream(cuda.Stream()):
        y = bytes_on_device(512)
        assert y.data_ptr() != place
    assert bytes_on_device(512).data_ptr() == place


def test_a_block_that_another_stream_uses_waits() -> None:
    other = cuda.Stream()
    x = torch.zeros(1 << 18, device="cuda")
    cuda.synchronize()
    with cuda.stream(other):
        cuda._sleep(500_000_000)
        x.add_(1)
    x.record_stream(other)
    place = x.data_ptr()
    del x
    y = torch.empty(1 << 18, device="cuda")
    if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        assert y.data_ptr() == place, "the other stream has finished its work"
        return
    assert y.data_ptr() != place
    states = [b["state"] for s in cuda.memory_snapshot() for b in s["blocks"] if b["address"] == place]
    assert states == ["active_pending_free"]
    cuda.empty_cache()  # waits for the event, and counts the waiting
    assert cuda.memory_stats()["num_sync_all_streams"] == 1
    assert cuda.memory_stats()["active.all.current"] == 1


def test_large_blocks_that_may_not_be_split() -> None:
    cuda.memory._set_allocator_settings("max_split_size_mb:20")
    assert cuda.memory_stats()["max_split_size"] == 20 * MIB
    x = bytes_on_device(30 * MIB)
    stats = cuda.memory_stats()
    assert stats["oversize_allocations.current"] == stats["oversize_segments.current"] == 1
    place = x.data_ptr()
    del x
    assert cuda.memory_stats()["oversize_allocations.freed"] == 1
    small = bytes_on_device(12 * MIB)
    assert small.data_ptr() != place, "the block of 30 MiB would be wasted on 12"
    assert bytes_on_device(25 * MIB).data_ptr() == place, "30 MiB for 25 is within the limit of 20 MiB"


def test_sizes_are_rounded_to_divisions_of_powers_of_two() -> None:
    x = bytes_on_device(4 * MIB + 1)
    assert layout(x)[0][0] == 4 * MIB + 512
    del x
    cuda.empty_cache()
    cuda.memory._set_allocator_settings("roundup_power2_divisions:4")
    try:
        x = bytes_on_device(4 * MIB + 1)
        assert layout(x)[0][0] == 5 * MIB
        cuda.memory._set_allocator_settings("roundup_power2_divisions:[1:0,4:8,>:2]")
        y = bytes_on_device(4 * MIB + 1)
        assert any(b["size"] == 4 * MIB + MIB // 2 for b in segment_of(y)["blocks"])
    finally:
        cuda.memory._set_allocator_settings("roundup_power2_divisions:1")


def test_a_limit_for_the_process() -> None:
    total = cuda.get_device_properties(0).total_memory
    assert cuda.get_per_process_memory_fraction() == 1.0
    cuda.set_per_process_memory_fraction(40 * MIB / total)
    assert cuda.get_per_process_memory_fraction() == pytest.approx(40 * MIB / total)
    x = bytes_on_device(30 * MIB)
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 20.00 MiB. GPU 0 .* 40.00 MiB allowed; "):
        bytes_on_device(20 * MIB)
    stats = cuda.memory_stats()
    assert stats["num_ooms"] == 1 and stats["num_alloc_retries"] == 1
    del x
    bytes_on_device(25 * MIB)  # the segment of 30 MiB serves it
    bytes_on_device(35 * MIB)  # the segment of 30 MiB is returned first
    assert cuda.memory_reserved() == 36 * MIB


def test_what_limits_refuse() -> None:
    with pytest.raises(TypeError, match="must be `float`"):
        cuda.set_per_process_memory_fraction(1)
    with pytest.raises(ValueError, match=r"Invalid fraction value: 1\.5\. Allowed range: 0~1"):
        cuda.set_per_process_memory_fraction(1.5)


def test_garbage_is_collected_before_memory_is_asked_for() -> None:
    total = cuda.get_device_properties(0).total_memory
    cuda.set_per_process_memory_fraction(120 * MIB / total)
    cuda.memory._set_allocator_settings("garbage_collection_threshold:0.5")
    old = bytes_on_device(40 * MIB)
    del old
    young = bytes_on_device(16 * MIB)  # is served from the old segment of 40 MiB
    del young
    bytes_on_device(50 * MIB)
    assert cuda.memory_reserved() == 90 * MIB, "less than 60 MiB were reserved: nothing to collect"
    bytes_on_device(60 * MIB)
    assert cuda.memory_reserved() == 110 * MIB, "the older segment was returned"
    assert cuda.memory_stats()["num_alloc_retries"] == 0


def test_the_whole_message() -> None:
    x = bytes_on_device(512)
    with pytest.raises(torch.OutOfMemoryError) as caught:
        bytes_on_device(1 << 50)
    assert str(caught.value).startswith("CUDA out of memory. Tried to allocate 1048576.00 GiB. GPU 0 has a total cap")
    assert "512 bytes is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated." in str(
        caught.value
    )
    assert x.numel() == 512


def test_counters_count_what_happens() -> None:
    before = cuda.memory_stats()
    x, y = bytes_on_device(1000), bytes_on_device(3 * MIB)
    after = cuda.memory_stats()

    def change(key: str) -> int:
        return after[key] - before[key]

    assert change("allocation.all.current") == 2 and change("allocation.large_pool.current") == 1
    assert change("allocated_bytes.all.current") == 1024 + 3 * MIB
    assert change("requested_bytes.all.current") == 1000 + 3 * MIB
    assert change("reserved_bytes.all.current") == 22 * MIB and change("num_device_alloc") == 2
    assert cuda.memory_stats_as_nested_dict()["allocation"]["all"]["current"] == after["allocation.all.current"]
    del x, y
    assert cuda.max_memory_allocated() == after["allocated_bytes.all.current"]
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == cuda.memory_allocated()
    cuda.reset_accumulated_memory_stats()
    assert cuda.memory_stats()["allocation.all.allocated"] == 0
    with pytest.warns(FutureWarning, match="renamed to `torch.cuda.memory_reserved`"):
        assert cuda.memory_cached() == cuda.memory_reserved()
    with pytest.warns(FutureWarning, match="resets /all/ peak memory stats"):
        cuda.reset_max_memory_allocated()


def test_history() -> None:
    cuda.memory._record_memory_history(max_entries=4)
    x = bytes_on_device(700)
    del x
    trace = cuda.memory._snapshot()["device_traces"][0]
    assert [entry["action"] for entry in trace] == ["segment_alloc", "alloc", "free_requested", "free_completed"]
    assert trace[1]["size"] == 700 and trace[1]["frames"][0]["name"] == "bytes_on_device"
    assert trace[1]["frames"][1]["name"] == "test_history" and trace[1]["time_us"] > 10**15
    assert cuda.memory._snapshot()["device_traces"][0][-1]["action"] == "snapshot"  # the snapshot before this one
    cuda.memory._record_memory_history(context=None, skip_actions=["free_requested"], clear_history=True)
    x = bytes_on_device(700)
    del x
    trace = cuda.memory._snapshot()["device_traces"][0]
    assert [entry["action"] for entry in trace[:2]] == ["alloc", "free_completed"] and not trace[0]["frames"]
    cuda.memory._record_memory_history("state", stacks="python")
    x = bytes_on_device(700)
    assert segment_of(x)["blocks"][0]["frames"][0]["name"] == "bytes_on_device"
    with pytest.raises(RuntimeError, match="expected state or all, but got 'everything'"):
        cuda.memory._record_memory_history("everything")  # type: ignore[arg-type]


def test_a_snapshot_is_written(tmp_path: Path) -> None:
    x = bytes_on_device(512)
    cuda.memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert {"segments", "device_traces", "allocator_settings"} <= set(snapshot)
    assert any(b["address"] == x.data_ptr() for s in snapshot["segments"] for b in s["blocks"])
    assert len(snapshot["device_traces"]) == cuda.device_count()


def test_memory_that_is_no_tensors() -> None:
    address = cuda.caching_allocator_alloc(1000)
    assert cuda.memory_stats()["requested_bytes.all.current"] == 1000
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        cuda.caching_allocator_delete(address + 512)
    cuda.caching_allocator_delete(address)
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        cuda.caching_allocator_delete(address)
    stream = cuda.Stream()
    address = cuda.caching_allocator_alloc(1000, stream=stream)
    assert any(s["stream"] == stream.stream_id for s in cuda.memory_snapshot())
    cuda.caching_allocator_delete(address)
    address = cuda.caching_allocator_alloc(1000, stream=cuda.current_stream().cuda_stream)
    cuda.caching_allocator_delete(address)
    with pytest.raises(TypeError, match=r"must be `torch\.cuda\.Stream` or `int`"):
        cuda.caching_allocator_alloc(1000, stream="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither the current nor the default stream"):
        cuda.caching_allocator_alloc(1000, stream=12345)


def test_without_a_cache() -> None:
    with cuda.caching_allocator_disabled():
        x = torch.full((3,), 2.0, device="cuda")
        assert cuda.memory_allocated() == 0 and x.sum().item() == 6
        del x
    y = bytes_on_device(512)
    assert cuda.memory_allocated() == 512 and y.numel() == 512


PLUGGED = """
#include <stdlib.h>
#include <sys/types.h>
static int alive = 0;
void* my_malloc(ssize_t size, int device, void* stream) {
  alive++;
  return aligned_alloc(512, (size + 511) / 512 * 512);
}
void my_free(void* ptr, ssize_t size, int device, void* stream) { alive--; free(ptr); }
int count(void) { return alive; }
"""
PROGRAM = """
import ctypes, sys, reftorch as torch
library = ctypes.CDLL(sys.argv[1])
mine = torch.cuda.CUDAPluggableAllocator(sys.argv[1], "my_malloc", "my_free")
torch.cuda.change_current_allocator(mine)
assert torch.cuda.get_allocator_backend() == "pluggable"
x = torch.empty(1000, device="cuda")
assert library.count() == 1
del x
assert library.count() == 0
try:
    torch.cuda.memory_stats()
except RuntimeError as error:
    print(error)
"""
TOO_LATE = """
import sys, reftorch as torch
x = torch.empty(1000, device="cuda")
mine = torch.cuda.CUDAPluggableAllocator(sys.argv[1], "my_malloc", "my_free")
try:
    torch.cuda.change_current_allocator(mine)
except RuntimeError as error:
    print(error)
"""


def test_an_allocator_of_the_program(tmp_path: Path) -> None:
    source, library = tmp_path / "plugged.c", tmp_path / "plugged.so"
    source.write_text(PLUGGED)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    for program, message in ((PROGRAM, "does not yet support getDeviceStats"), (TOO_LATE, "already initialized alloc")):
        done = subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert message in done.stdout


# ---- several threads -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", threads.SCENARIOS)
def test_several_threads_share_the_allocator_and_the_streams(name: str) -> None:
    threads.SCENARIOS[name](3)
