"""What a program asks before it uses a GPU, where there is none.

Mirrors: test/test_cuda.py
Leaves out: CUDA itself, which test_devices.py starts.
"""

from types import ModuleType

import pytest

import reftorch

pytestmark = pytest.mark.skipif(reftorch.cuda.is_available(), reason="this machine has a GPU")

# A build for GPUs finds none on this machine; other builds look for none.
NO_GPU: tuple[type[Exception], str] = (AssertionError, "Torch not compiled with CUDA enabled")
if reftorch.backends.cuda.is_built():
    NO_GPU = (RuntimeError, "No CUDA GPUs are available")

ANSWERS = {
    "is_available": False,
    "device_count": 0,
    "is_initialized": False,
    "is_bf16_supported": False,
    "get_arch_list": [],
    "memory_allocated": 0,
    "max_memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_reserved": 0,
    "empty_cache": None,
}
NEED_A_GPU = (
    "init", "current_device", "synchronize", "get_device_name", "get_device_properties", "get_device_capability",
)  # fmt: skip


@pytest.fixture
def libraries(real_torch_or_none: ModuleType | None) -> list[ModuleType]:
    """Ours, and the real torch where both were built without CUDA."""
    ours_has_none = not reftorch.backends.cuda.is_built()
    has_none = ours_has_none and real_torch_or_none is not None and not real_torch_or_none.backends.cuda.is_built()
    return [reftorch, real_torch_or_none] if has_none and real_torch_or_none is not None else [reftorch]


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, libraries: list[ModuleType]) -> None:
    for library in libraries:
        assert getattr(library.cuda, name)() == ANSWERS[name]


@pytest.mark.parametrize("name", NEED_A_GPU)
def test_what_needs_a_gpu(name: str, libraries: list[ModuleType]) -> None:
    for library in libraries:
        with pytest.raises(NO_GPU[0], match=NO_GPU[1]):
            getattr(library.cuda, name)()


def test_seeds_and_moves(libraries: list[ModuleType]) -> None:
    for library in libraries:
        library.cuda.manual_seed(0)
        library.cuda.manual_seed_all(0)
        with pytest.raises(NO_GPU[0], match=NO_GPU[1]):
            library.ones(1).cuda()


def test_every_public_name_is_torchs() -> None:
    for name in reftorch.cuda.__all__:
        assert getattr(reftorch.cuda, name) is not None


@pytest.mark.parametrize("name", ["Stream", "Event", "current_stream", "default_stream", "mem_get_info"])
def test_streams_need_a_gpu(name: str) -> None:
    with pytest.raises(NO_GPU[0], match=NO_GPU[1]):
        getattr(reftorch.cuda, name)()


def test_devices_that_a_setting_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFTORCH_CUDA_SIM", "2")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    if not getattr(reftorch._C, "_cuda_is_simulated", False):
        pytest.skip("of the simulator")
    assert reftorch.cuda.device_count() == 0
    with pytest.raises(AssertionError, match="CUDA_VISIBLE_DEVICES='-1' hides the simulated devices"):
        reftorch.cuda.init()
