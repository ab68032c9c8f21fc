"""The device module of the CPU answers as torch's.

Mirrors: test/test_cpu.py
"""

from types import ModuleType
from typing import Any

import reftorch
from tests.answers.watched import asked


def answers(t: Any) -> list[Any]:
    cpu = t.cpu
    first, second = cpu.Stream(), cpu.Stream(priority=0)
    outside = cpu.current_stream()
    found = [cpu.is_available(), cpu.is_initialized(), cpu.device_count(), cpu.current_device()]
    with cpu.stream(first):
        found.append(cpu.current_stream() is first)
        with cpu.stream(second), cpu.stream(None):
            found.append(cpu.current_stream("cpu") is second)
        found.append(cpu.current_stream() is first)
    event = cpu.Event()
    nothing = [
        cpu.synchronize("cpu"),
        cpu.set_device("cpu"),
        first.wait_stream(second),
        first.record_event(),
        first.wait_event(event),
        event.record(first),
        event.wait(),
        event.synchronize(),
    ]
    return [*found, cpu.current_stream() is outside, event.query(), nothing]


def names(torch: ModuleType) -> list[str]:
    return sorted(set(torch.cpu.__all__) - {"amp", "get_capabilities"})


def test_the_answers_are_torchs(real_torch: ModuleType) -> None:
    assert answers(reftorch) == asked(real_torch, answers)
    assert names(reftorch) == asked(real_torch, names)
