"""torch.Stream, torch.Event and what is asked of an accelerator, where there is none.

Mirrors: test/test_accelerator.py, test/test_cuda.py (the tests of torch.Stream and torch.Event)
"""

from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.checks import check_error

PROGRAMS = [
    "torch.Stream('cpu')",
    "torch.Stream(device='cpu').device",
    "torch.Stream('cpu').stream_id",
    "torch.Stream('cpu').query()",
    "torch.Stream('cpu').synchronize()",
    "torch.Stream('cpu') == torch.Stream('cpu')",
    "torch.Stream('cpu') == 3",
    "hash(torch.Stream('cpu')) == hash(torch.Stream('cpu'))",
    "torch.Stream('meta').device",
    "torch.Event('cpu').query()",
    "torch.Event('cpu').device",
    "torch.Event('cpu').synchronize()",
    "torch.ones(2).is_pinned()",
    "torch.ones(2).get_device(), torch.empty(2, device='meta').get_device()",
    "torch.device('cuda', 1), torch.device('cuda:1') == torch.device('cuda'), torch.device('cpu:0')",
    "torch.ones(2).to('cpu:0').device",
    "torch.tensor([1.0, 2.0], device='cpu'), torch.ones(2).cpu()",
]
NONE = "Cannot access accelerator device when none is available."
NO_EVENTS = "cpu backend doesn't support events."
ERRORS = [
    ("torch.Event('cpu').record()", RuntimeError, NO_EVENTS),
    ("torch.Stream('cpu').record_event()", RuntimeError, NO_EVENTS),
    ("torch.Stream('cpu').wait_stream(torch.Stream('cpu'))", RuntimeError, NO_EVENTS),
    ("torch.Event('cpu').elapsed_time(torch.Event('cpu'))", ValueError, "Both events must be created with argument"),
    ("torch.Stream('abacus')", RuntimeError, "Expected one of cpu"),
]
ERRORS_WITHOUT_ACCELERATOR = [
    ("torch.device(0)", RuntimeError, NONE),
    ("torch.Stream('cuda')", RuntimeError, "PyTorch is not linked with support for cuda devices"),
    ("torch.accelerator.set_device_index(0)", RuntimeError, NONE),
    ("torch.accelerator.set_device_index('cpu')", RuntimeError, "Accelerator expected"),
    ("torch.accelerator.current_device_index()", RuntimeError, NONE),
    ("torch.accelerator.current_stream()", RuntimeError, NONE),
    ("torch.accelerator.set_stream(torch.Stream('cpu'))", RuntimeError, NONE),
    ("torch.accelerator.synchronize()", RuntimeError, NONE),
    ("torch.ones(2).pin_memory()", RuntimeError, NONE),
    ("torch.ones(2).cuda()", AssertionError, "Torch not compiled with CUDA enabled"),
    ("torch.ones(2).cuda(1)", RuntimeError, NONE),
    ("torch.ones(2).cuda('cuda:1', non_blocking=True)", AssertionError, "Torch not compiled with CUDA enabled"),
    ("torch.ones(2, device=0)", RuntimeError, NONE),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_what_torch_prints(program: str, real_torch: Any) -> None:
    assert repr(eval(program, {"torch": reftorch})) == asked(
        real_torch, lambda lib: repr(eval(program, {"torch": lib}))
    )


@pytest.mark.parametrize(("program", "error", "message"), ERRORS + ERRORS_WITHOUT_ACCELERATOR)
def test_an_error_is_torchs(program: str, error: type[Exception], message: str, real_torch: Any) -> None:
    # Where torch has an accelerator, torch has an answer to the programs that ask for one.
    asks_for_one = (program, error, message) in ERRORS_WITHOUT_ACCELERATOR
    torch = None if asks_for_one and real_torch.accelerator.is_available() else real_torch
    check_error(lambda lib: eval(program, {"torch": lib}), error, message, torch)


def test_a_stream_is_a_context() -> None:
    stream = reftorch.Stream("cpu")
    with stream as entered, stream:
        assert entered is stream
    with pytest.raises(TypeError):
        reftorch.ones(2).record_stream(None)


@pytest.mark.parametrize(("index", "kind"), [(0, 99), (0, -1), (-1, 0), (5, 0), (257, 0), (2**40, 0), (0, 2**40)])
def test_an_existing_stream_has_a_device(index: int, kind: int) -> None:
    with pytest.raises(RuntimeError, match=r"expected a device_|Device index must be"):
        reftorch.Stream(stream_id=0, device_index=index, device_type=kind)


@pytest.mark.parametrize("index", [128, 257, 2**31, 2**40, -2])
def test_a_device_number_does_not_wrap_around(index: int) -> None:
    for call in (lambda: reftorch.device("cuda", index), lambda: reftorch.device(f"cuda:{index}")):
        with pytest.raises(RuntimeError):
            call()
