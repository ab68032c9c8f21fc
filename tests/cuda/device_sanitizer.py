"""torch.cuda._sanitizer on simulated devices: missing waits are found in each run, and correct programs pass.

Run by tests/debug/kernels/test_kernels.py in a process with devices.

Mirrors: test/test_cuda_sanitizer.py
Leaves out: PyTorch's tests of its event handler, which the simulator's watcher replaces.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

import reftorch as torch
from reftorch.cuda._sanitizer import (
    CUDASanitizerErrors,
    MemoryInUseError,
    UnsynchronizedAccessError,
    cuda_sanitizer,
    enable_cuda_sanitizer,
)


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.collect()
    enable_cuda_sanitizer()
    yield
    cuda_sanitizer.disable()


def read_on_a_side_stream(waits: bool) -> None:
    side, x = torch.cuda.Stream(), torch.zeros(64, device="cuda")
    x.fill_(3)
    if waits:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    x.record_stream(side)
    y.sum()


def read_after_an_event(waits: bool) -> None:
    side, x, event = torch.cuda.Stream(), torch.zeros(64, device="cuda"), torch.cuda.Event()
    if not waits:
        event.record()  # too early
    x.fill_(3)
    if waits:
        event.record()
    side.wait_event(event)
    with torch.cuda.stream(side):
        x.add_(1)
    torch.cuda.current_stream().wait_stream(side)


def free_while_a_side_stream_reads(waits: bool) -> None:
    side, x = torch.cuda.Stream(), torch.ones(256, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    if waits:
        x.record_stream(side)
    del x
    z = torch.full((256,), 7.0, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    (y + z).sum()


def read_pinned_memory(waits: bool) -> None:
    x = torch.full((1000,), 5.0, device="cuda")
    host = torch.zeros(1000).pin_memory()
    host.copy_(x, non_blocking=True)
    if waits:
        torch.cuda.current_stream().synchronize()
    host.sum()


def overwrite_pinned_memory(waits: bool) -> None:
    host, x = torch.ones(1000).pin_memory(), torch.zeros(1000, device="cuda")
    x.copy_(host, non_blocking=True)
    if waits:
        event = torch.cuda.Event()
        event.record()
        event.synchronize()
    host.fill_(-1)


MISTAKES: dict[Callable[[bool], None], type[Exception]] = {
    read_on_a_side_stream: UnsynchronizedAccessError,
    read_after_an_event: UnsynchronizedAccessError,
    free_while_a_side_stream_reads: MemoryInUseError,
    read_pinned_memory: MemoryInUseError,
    overwrite_pinned_memory: MemoryInUseError,
}


@pytest.mark.parametrize("program", MISTAKES, ids=lambda f: f.__name__)
def test_a_missing_wait_is_found(program: Callable[[bool], None]) -> None:
    with pytest.raises(CUDASanitizerErrors) as raised:
        program(False)
    assert MISTAKES[program] in [type(error) for error in raised.value.errors]
    program(True)


def test_the_report_shows_both_ops_with_their_lines() -> None:
    with pytest.raises(CUDASanitizerErrors) as raised:
        read_on_a_side_stream(False)
    text = str(raised.value)
    assert text.startswith("detected 1 errors\n\nCSAN detected a possible data race on tensor with data pointer ")
    assert "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor\nreading self, writing output" in text
    assert "y = x * 2" in text and "x.fill_(3)" in text and "Previous access by stream" in text


def test_a_training_step_on_two_streams_passes() -> None:
    model = torch.nn.Linear(8, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    side = torch.cuda.Stream()
    for _ in range(2):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            hidden = model(torch.randn(16, 8, device="cuda"))
        torch.cuda.current_stream().wait_stream(side)
        hidden.record_stream(torch.cuda.current_stream())
        optimizer.zero_grad()
        hidden.pow(2).sum().backward()
        optimizer.step()


def test_copies_between_devices_pass() -> None:
    a = torch.randn(64, device="cuda:0")
    b = a.to("cuda:1", non_blocking=True) * 2
    assert torch.allclose(b.to("cuda:0"), a * 2)


def test_only_one_watches() -> None:
    with pytest.raises(RuntimeError, match="kernels are being watched"):
        enable_cuda_sanitizer()
