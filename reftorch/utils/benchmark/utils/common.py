"""A measurement with its statistics, the description of what was measured, and helpers that write numbers.

Mirrors: torch/utils/benchmark/utils/common.py
Leaves out: temporary folders for Callgrind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import textwrap
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from reftorch import get_num_threads, set_num_threads
from reftorch._C import float64, tensor

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_MAX_SIGNIFICANT_FIGURES = 4
_MIN_CONFIDENCE_INTERVAL = 25e-9  # seconds: a clock is no better than this
# A measurement warns if its interquartile range is a larger part of the median.
_IQR_WARN_THRESHOLD = 0.1
_IQR_GROSS_WARN_THRESHOLD = 0.25
_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1, "second")}


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """Says what was measured: the statement, its setup, and words for a table.

    Attributes:
        stmt: the statement.
        setup: the code that ran once before.
        global_setup: for statements in C++, which do not exist here.
        label: names the task; tasks of one label share a table.
        sub_label: names a row of the table.
        description: names a column of the table.
        env: names the environment, such as a version of the library.
        num_threads: the number of threads.

    Example:
        >>> from reftorch.utils.benchmark import TaskSpec
        >>> print(TaskSpec("x + 1", "x = 1", label="add", sub_label="int").summarize())
        add: int
        setup: x = 1

    Mirrors torch/utils/benchmark/utils/common.py, ``TaskSpec``.
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement."""
        if self.label is None and "\n" in self.stmt:
            detail = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{detail}\n{textwrap.indent(self.stmt, '  ')}"
        name = self.stmt if self.label is None else self.label
        return f"{name}: {self.sub_label}" if self.sub_label else name

    def setup_str(self) -> str:
        """Return the setup as lines of a report; empty if there is none.

        Mirrors torch/utils/benchmark/utils/common.py, ``TaskSpec.setup_str``.
        """
        if not self.setup or self.setup == "pass":
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return title, description and setup as lines of a report.

        Mirrors torch/utils/benchmark/utils/common.py, ``TaskSpec.summarize``.
        """
        parts = [part for part in (self.title, self.description, self.setup_str()) if part]
        return "\n".join(part + "\n" if "\n" in part else part for part in parts)


@dataclasses.dataclass(repr=False)
class Measurement:
    """The times of a statement that ran several times, and their statistics, in seconds.

    The fields of ``task_spec`` are attributes of the measurement too.

    Attributes:
        number_per_run: how many times the statement ran for each of the ``raw_times``.
        raw_times: the times, each of ``number_per_run`` runs.
        task_spec: what was measured.
        metadata: anything that you want to keep beside it.

    Example:
        >>> from reftorch.utils.benchmark import Measurement, TaskSpec
        >>> m = Measurement(10, [1e-4, 2e-4, 1.5e-4, 1.5e-4], TaskSpec("x + 1", "x = 1", label="add"))
        >>> round(m.median * 1e6, 3), round(m.iqr * 1e6, 3), m.label
        (15.0, 2.5, 'add')
        >>> print(*str(m).splitlines()[1:6], sep="\\n")  # the first line has an address
        add
        setup: x = 1
          Median: 15.00 us
          IQR:    2.50 us (13.75 to 16.25)
          4 measurements, 10 runs per measurement, 1 thread

    Mirrors torch/utils/benchmark/utils/common.py, ``Measurement``.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        self._sorted_times: tuple[float, ...] = ()
        self._warnings: tuple[str, ...] = ()
        self._median = self._mean = self._p25 = self._p75 = -1.0

    def __getattr__(self, name: str) -> Any:
        if name in _TASK_FIELDS:
            return getattr(self.task_spec, name)
        return super().__getattribute__(name)  # raises the error of a missing attribute

    @property
    def times(self) -> list[float]:
        """The time of one run, once for each of the ``raw_times``."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times."""
        self._lazy_init()
        return self._median

    @property
    def mean(self) -> float:
        """The mean of the times."""
        self._lazy_init()
        return self._mean

    @property
    def iqr(self) -> float:
        """The interquartile range: the middle half of the times lies in it."""
        self._lazy_init()
        return self._p75 - self._p25

    @property
    def significant_figures(self) -> int:
        """About how many digits of the median are certain: from 1 to 4.

        The times between the quartiles give a standard error; 1.645 of it is a confidence interval of 90 %. The decades
        between this interval and the median are the certain digits.
        """
        self._lazy_init()
        n = len(self._sorted_times)
        middle = tensor(self._sorted_times[n // 4 : -(-3 * n // 4)])
        interval = max(1.645 * middle.std(unbiased=False).item() / len(middle) ** 0.5, _MIN_CONFIDENCE_INTERVAL)
        digits = int(tensor(self._median / interval).log10().floor())
        return min(max(digits, 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ so much that the report warns."""
        self._lazy_init()
        return bool(self._warnings)

    def _lazy_init(self) -> None:
        if self._sorted_times or not self.raw_times:
            return
        self._sorted_times = tuple(sorted(self.times))
        times = tensor(self._sorted_times, dtype=float64)
        self._mean = times.mean().item()
        self._p25, self._median, self._p75 = (times.quantile(q).item() for q in (0.25, 0.5, 0.75))
        for threshold, reason in (
            (_IQR_GROSS_WARN_THRESHOLD, "This suggests significant environmental influence."),
            (_IQR_WARN_THRESHOLD, "This could indicate system fluctuation."),
        ):
            if not self.meets_confidence(threshold):
                share = self.iqr / self.median * 100
                self._warnings = (
                    f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.\n           {reason}",
                )
                break

    def meets_confidence(self, threshold: float = _IQR_WARN_THRESHOLD) -> bool:
        """Return whether the interquartile range is less than this part of the median.

        Mirrors torch/utils/benchmark/utils/common.py, ``Measurement.meets_confidence``.
        """
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The title of the task."""
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        """The environment of the task."""
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of the row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        self._lazy_init()
        n = len(self._sorted_times)
        unit, scale = select_unit(self._median)
        lines = [
            object.__repr__(self),
            self.task_spec.summarize(),
            f"  {'Median: ' if n > 1 else ''}{self._median / scale:.2f} {unit}",
        ]
        if n >= 4:
            low, high = self._p25 / scale, self._p75 / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(
            f"  {n} measurement{'s' if n > 1 else ''}, "
            f"{self.number_per_run} runs {'per measurement,' if n > 1 else ','} "
            f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        )
        return "\n".join([*lines, *self._warnings])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Join the measurements of equal tasks, in the order of the tasks; metadata is dropped.

        Mirrors torch/utils/benchmark/utils/common.py, ``Measurement.merge``.
        """
        groups: dict[TaskSpec, list[float]] = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).extend(m.times)
        return [Measurement(1, times, task) for task, times in groups.items()]


_TASK_FIELDS = frozenset(field.name for field in dataclasses.fields(TaskSpec))


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit in which a time is between 1 and 1000, and this unit in seconds.

    Example:
        >>> from reftorch.utils.benchmark import select_unit
        >>> select_unit(3e-5)
        ('us', 1e-06)

    Mirrors torch/utils/benchmark/utils/common.py, ``select_unit``.
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(tensor(float(t)).log10().item() // 3), "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """Return the word for a unit: ``"us"`` is a microsecond.

    Mirrors torch/utils/benchmark/utils/common.py, ``unit_to_english``.
    """
    return _UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """Round a number to n significant digits.

    Args:
        x: the number.
        n: how many digits.

    Raises:
        AssertionError: n is not an integer.

    Example:
        >>> from reftorch.utils.benchmark import trim_sigfig
        >>> round(trim_sigfig(3.14159, 2), 5)
        3.1

    Mirrors torch/utils/benchmark/utils/common.py, ``trim_sigfig``.
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    magnitude = int(tensor(float(x)).abs().log10().ceil().item())
    scale = 10 ** (magnitude - n)
    return float(tensor(x / scale).round() * scale)


def ordered_unique(elements: Iterable[Hashable]) -> list[Any]:
    """Return each element once, in the order of first occurrence.

    Mirrors torch/utils/benchmark/utils/common.py, ``ordered_unique``.
    """
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Set the number of threads inside the block.

    Example:
        >>> from reftorch.utils.benchmark import set_torch_threads
        >>> with set_torch_threads(1):
        ...     torch.get_num_threads()
        1

    Mirrors torch/utils/benchmark/utils/common.py, ``set_torch_threads``.
    """
    former = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(former)
