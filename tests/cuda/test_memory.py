"""What torch.cuda.memory says without a device: settings of the allocator, and the table of its counters.

Mirrors: test/test_cuda.py
Leaves out: the allocator itself, which device_memory.py tests.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.cuda import memory

COUNTERS = (
    "allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "inactive_split_bytes", "allocation",
    "active", "segment", "inactive_split",
)  # fmt: skip
VALUES = ("current", "peak", "allocated", "freed")


def counters(scale: int) -> dict[str, int]:
    """Return counters for a table; a larger scale needs larger units."""
    stats = {"num_ooms": scale % 7, "num_alloc_retries": scale % 11}
    for i, counter in enumerate(COUNTERS):
        for j, pool in enumerate(("all", "small_pool", "large_pool")):
            for k, value in enumerate(VALUES):
                stats[f"{counter}.{pool}.{value}"] = scale * (3 * i + k + 1) // (j + 1)
    for counter in ("oversize_allocations", "oversize_segments"):
        for k, value in enumerate(VALUES):
            stats[f"{counter}.{value}"] = scale * k
    return stats


@pytest.mark.parametrize("abbreviated", [False, True])
@pytest.mark.parametrize("scale", [0, 17, 51_000, 3 << 20, 5 << 30, 7 << 41])
def test_the_summary_is_torchs(
    scale: int, abbreviated: bool, real_torch: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for torch in (reftorch, real_torch):
        module: Any = torch.cuda.memory
        index = "_device_index" if torch is reftorch else "_get_device_index"
        monkeypatch.setattr(module, "memory_stats", lambda device=None: counters(scale))
        monkeypatch.setattr(module, index, lambda device, optional=True: 1)
        texts.append(module.memory_summary(abbreviated=abbreviated))
    assert texts[0] == texts[1]


SETTINGS = (
    "max_split_size_mb:64", "max_split_size_mb:5", " max_split_size_mb : 64 ,", "garbage_collection_threshold:0.8",
    "garbage_collection_threshold:2", "roundup_power2_divisions:3", "roundup_power2_divisions:[256:1,512:2,>:8]",
    "expandable_segments:maybe", "pinned_use_background_threads:True", "large_segment_size_mb:32",
    "max_non_split_rounding_mb:30,garbage_collection_threshold:0.5", "throw_on_cudamalloc_oom:True",
)  # fmt: skip
BACK = (
    "max_split_size_mb:8000000000000,garbage_collection_threshold:0.999,roundup_power2_divisions:1,"
    "large_segment_size_mb:20,max_non_split_rounding_mb:20"
)


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_are_read_as_torch_reads_them(settings: str, real_torch: ModuleType) -> None:
    said = []
    for torch in (reftorch, real_torch):
        try:
            torch._C._accelerator_setAllocatorSettings(settings)
            said.append("")
        except ValueError as error:
            said.append(str(error).splitlines()[0])
        finally:
            torch._C._accelerator_setAllocatorSettings(BACK)
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("foo:1", "Unrecognized key 'foo' in CUDA allocator config."),
        ("max_split_size_mb", "the settings of the allocator end where : was expected"),
        ("max_split_size_mb:x", "expect a number that is not negative, but got 'x'"),
        ("max_split_size_mb:64 garbage_collection_threshold:0.5", "expect a number"),
        ("roundup_power2_divisions:[3:1]", "the intervals have to be power of 2"),
        ("roundup_power2_divisions:[4:1", "end where ] was expected"),
        ("backend:cudaMallocAsync", "the option here is native"),
    ],
)
def test_settings_that_are_refused(settings: str, message: str) -> None:
    before = reftorch._C._accelerator_getAllocatorSettings()
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        memory._set_allocator_settings(settings)
    assert reftorch._C._accelerator_getAllocatorSettings() == before


def test_a_setting_that_has_no_effect_says_so() -> None:
    with pytest.warns(UserWarning, match="expandable_segments:True has no effect here"):
        memory._set_allocator_settings("expandable_segments:True")
