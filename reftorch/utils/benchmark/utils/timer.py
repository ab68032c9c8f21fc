"""A timer of Python statements that chooses how many times to run them.

Mirrors: torch/utils/benchmark/utils/timer.py
Leaves out: statements in C++ and counts of instructions by Callgrind; both raise NotImplementedError.
"""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable
from typing import Any

import reftorch
from reftorch.utils.benchmark.utils import common

__all__ = ["Language", "Timer", "timer"]


def timer() -> float:
    """Return the time in seconds, after all devices have finished their work.

    Example:
        >>> from reftorch.utils.benchmark import timer
        >>> timer() <= timer()
        True

    Mirrors torch/utils/benchmark/utils/timer.py, ``timer``.
    """
    if reftorch.accelerator.is_available():
        reftorch.accelerator.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """The language of a statement. Only Python is measured here.

    Mirrors torch/utils/benchmark/utils/timer.py, ``Language``.
    """

    PYTHON = 0
    CPP = 1


def _dedented(code: str) -> str:
    """Return code without common indentation, a line break at the beginning, and space at the end."""
    return textwrap.dedent(code).removeprefix("\n").rstrip()


class Timer:
    """Measures how long a statement takes.

    Unlike ``timeit.Timer``, it warms up, sets the number of threads (one, so that measurements are comparable), waits
    for devices, and returns a :class:`Measurement` with several times, whose median is more robust than one mean.

    Args:
        stmt: the statement, as text.
        setup: code that runs once before, and may define variables of the statement.
        global_setup: is for C++ only.
        timer: a function that returns the time in seconds.
        globals: variables of the statement; ``torch`` is always there.
        label: names the task.
        sub_label: names the row of a table by :class:`Compare`.
        description: names the column of the table.
        env: names the environment; tasks of different environments are not joined.
        num_threads: how many threads the library uses meanwhile.
        language: ``Language.PYTHON`` or ``"python"``.

    Raises:
        ValueError: ``stmt`` is not text, ``global_setup`` is given, or the language is unknown.
        NotImplementedError: the language is C++.

    Example:
        >>> from reftorch.utils.benchmark import Timer
        >>> x = torch.ones(64, 64)
        >>> m = Timer("x @ x", globals={"x": x}, label="product").timeit(10)
        >>> m.number_per_run, len(m.times), m.median > 0
        (10, 1, True)

    Mirrors torch/utils/benchmark/utils/timer.py, ``Timer``.
    """

    _timer_cls: Any = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError(
                "Timer: reftorch times Python statements only; got language C++ (it compiles no C++)"
            )
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        self._globals = {"torch": reftorch, **(globals or {})}  # a copy, because timeit adds to it
        self._language = Language.PYTHON
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = common.TaskSpec(
            stmt, setup, global_setup, label, sub_label, description, env, num_threads=num_threads
        )

    def _timeit(self, number: int) -> float:
        """Return the seconds of ``number`` runs: at least 1e-9, so that nothing is divided by zero."""
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> common.Measurement:
        """Run the statement ``number`` times, after a hundredth as many runs (at least 2) that warm up.

        Mirrors torch/utils/benchmark/utils/timer.py, ``Timer.timeit``.
        """
        with common.set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return common.Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raise NotImplementedError: ``blocked_autorange`` takes its place."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], Any] | None = None) -> None:
        """Raise NotImplementedError: ``blocked_autorange`` takes its place."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _measure(
        self,
        number: int,
        enough: Callable[[list[float]], bool],
        min_run_time: float,
        max_run_time: float | None,
        callback: Callable[[int, float], Any] | None,
    ) -> common.Measurement:
        """Run blocks of ``number`` runs, until ``min_run_time`` has passed and the times are ``enough``."""
        times: list[float] = []
        total = 0.0
        with common.set_torch_threads(self._task_spec.num_threads):
            done = False
            while total < min_run_time or not done:
                times.append(self._timeit(number))
                total += times[-1]
                if callback:
                    callback(number, times[-1])
                done = enough(times)
                if max_run_time and total > max_run_time:
                    break
        return common.Measurement(number, times, self._task_spec)

    def _estimate_block_size(self, min_run_time: float) -> int:
        """Return a number of runs beside which the cost of reading the clock is small; this also warms up."""
        with common.set_torch_threads(self._task_spec.num_threads):
            overhead = sorted(self._timeit(0) for _ in range(5))[2]
            number = 1
            while True:
                taken = self._timeit(number)
                if taken > min_run_time or (overhead / taken <= 1e-4 and taken >= min_run_time / 1000):
                    return number
                number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> common.Measurement:
        """Run blocks of the statement until some time has passed.

        A block is so long that reading the clock is less than a ten-thousandth of its time.

        Args:
            callback: takes the number of runs and the seconds of each block.
            min_run_time: the seconds that all blocks take at least.

        Returns:
            A :class:`Measurement` with one time for each block.

        Example:
            >>> from reftorch.utils.benchmark import Timer
            >>> m = Timer("torch.ones(4) + 1").blocked_autorange(min_run_time=0.01)
            >>> sum(m.raw_times) >= 0.01
            True

        Mirrors torch/utils/benchmark/utils/timer.py, ``Timer.blocked_autorange``.
        """
        number = self._estimate_block_size(min_run_time)
        return self._measure(number, lambda times: True, min_run_time, None, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> common.Measurement:
        """Run blocks of the statement until their times agree.

        Args:
            threshold: the interquartile range may be at most this part of the median.
            min_run_time: the seconds that all blocks take at least.
            max_run_time: the seconds after which no further block begins.
            callback: takes the number of runs and the seconds of each block.

        Returns:
            A :class:`Measurement` with at least four times, unless ``max_run_time`` has passed.

        Example:
            >>> from reftorch.utils.benchmark import Timer
            >>> m = Timer("torch.ones(4) + 1").adaptive_autorange(max_run_time=0.01)
            >>> m.median > 0
            True

        Mirrors torch/utils/benchmark/utils/timer.py, ``Timer.adaptive_autorange``.
        """
        number = self._estimate_block_size(min_run_time=0.05)

        def enough(times: list[float]) -> bool:
            return len(times) > 3 and common.Measurement(number, times, self._task_spec).meets_confidence(threshold)

        return self._measure(number, enough, min_run_time, max_run_time, callback)

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ) -> Any:
        """Raise NotImplementedError: instructions are not counted here.

        Raises:
            NotImplementedError: always.

        Mirrors torch/utils/benchmark/utils/timer.py, ``Timer.collect_callgrind``.
        """
        raise NotImplementedError(
            "Timer.collect_callgrind: reftorch does not count instructions with Callgrind; measure time with "
            "blocked_autorange(), or run the program under `valgrind --tool=callgrind`"
        )
