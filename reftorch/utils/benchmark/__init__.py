"""Measure how long small programs take, and compare the measurements in a table.

:class:`Timer` runs a statement many times, :class:`Measurement` holds the times and their statistics, and
:class:`Compare` prints measurements as a table. :class:`Fuzzer` draws inputs of random shapes.

Mirrors: torch/utils/benchmark/__init__.py
Leaves out: Callgrind, statements in C++, benchmarks of ``torch.compile``, sparse tensors.
"""

from reftorch.utils.benchmark.utils.common import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from reftorch.utils.benchmark.utils.compare import Colorize, Compare
from reftorch.utils.benchmark.utils.fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias
from reftorch.utils.benchmark.utils.timer import Language, Timer, timer

__all__ = [
    "Colorize",
    "Compare",
    "FuzzedParameter",
    "FuzzedTensor",
    "Fuzzer",
    "Language",
    "Measurement",
    "ParameterAlias",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
