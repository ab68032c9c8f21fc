"""Timers, measurements and their tables, beside torch's.

Mirrors: test/benchmark_utils/test_benchmark_utils.py
Leaves out: C++ and Callgrind.

A clock that a test turns stands for the real one, so that both libraries measure the same times.
"""

import importlib
import itertools
import random
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils import benchmark


def of(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.utils.benchmark")


def drawn(b: Any, seed: int, spread: float = 0.5) -> list[Any]:
    """Measurements of tasks with and without labels, environments and threads."""
    draw = random.Random(seed)
    found = []
    for row, column, threads, env in itertools.product(["float", "int"], ["n=1", "n=100"], [1, 4], [None, "old"]):
        if draw.random() < 0.2:
            continue
        number, center = draw.choice([1, 10]), 10 ** draw.uniform(-7, 1)
        times = [number * center * draw.uniform(1 - spread, 1 + spread) for _ in range(draw.choice([1, 2, 4, 15]))]
        label = draw.choice([None, "sort"]) if seed % 2 else "sort"
        stmt = draw.choice(["x.sort()", "y = x\ny.sort()"])
        name = env if env is None else str(env)
        task = b.TaskSpec(
            stmt, draw.choice(["pass", "", "x = 1", "x = 1\ny = 2"]), "", label, row, column, name, threads
        )
        found.append(b.Measurement(number, times, task))
    return found


def statistics(m: Any) -> tuple[Any, ...]:
    text = re.sub(r"<.* object at .*>", "", repr(m))
    numbers = (*(f"{x:.12e}" for x in (m.median, m.mean, m.iqr)), m.significant_figures, m.meets_confidence(0.3))
    return text, numbers, m.title, m.as_row_name, m.description, m.times


@pytest.mark.parametrize("seed", range(6))
def test_statistics_and_reports_are_torchs(real_torch: ModuleType, noted: Any, seed: int) -> None:
    ours, theirs = drawn(benchmark, seed), drawn(of(real_torch), seed)
    assert [statistics(m) for m in ours] == noted([statistics(m) for m in theirs])
    merged = [b.Measurement.merge(found + found) for b, found in ((benchmark, ours), (of(real_torch), theirs))]
    assert [statistics(m) for m in merged[0]] == noted([statistics(m) for m in merged[1]])


@pytest.mark.parametrize("seed", [0, 2, 4])
@pytest.mark.parametrize("spread", [0.5, 0.01])
def test_tables_are_torchs(real_torch: ModuleType, noted: Any, seed: int, spread: float) -> None:
    def tables(b: Any) -> list[str]:
        """The table with each option that is added."""
        found = [m for m in drawn(b, seed, spread) if m.task_spec.env is not None]
        found = [b.Measurement(m.number_per_run, m.raw_times, m.task_spec) for m in found]
        compare = b.Compare(found[:4])
        options: list[Callable[[], Any]] = [
            lambda: None,
            lambda: compare.extend_results(found[4:]),
            compare.trim_significant_figures,
            compare.highlight_warnings,
            compare.colorize,
            lambda: compare.colorize(rowwise=True),
        ]
        texts = []
        for option in options:
            option()
            texts.append(str(compare))
        return texts

    assert tables(benchmark) == noted(tables(of(real_torch)))


def test_numbers_are_written_as_torch_writes_them(real_torch: ModuleType, noted: Any) -> None:
    theirs = of(real_torch)
    for x in (3.14159, 0.002, 99.96, 12345.0, 1.0):
        assert [benchmark.trim_sigfig(x, n) for n in (1, 2, 4)] == noted([theirs.trim_sigfig(x, n) for n in (1, 2, 4)])
        assert benchmark.select_unit(x * 1e-6) == noted(theirs.select_unit(x * 1e-6))
    for unit in ("ns", "us", "ms", "s"):
        assert benchmark.unit_to_english(unit) == noted(theirs.unit_to_english(unit))


class Clock:
    """A clock that a run of the statement advances by the next of some steps."""

    def __init__(self, steps: list[float]) -> None:
        self.now = 0.0
        self.steps = itertools.cycle(steps)

    def run(self) -> None:
        self.now += next(self.steps)

    def __call__(self) -> float:
        self.now += 1e-7
        return self.now


@pytest.mark.parametrize("steps", [[1e-3], [1e-3, 5e-3, 1e-3, 1e-3, 9e-3], [2e-5, 3e-5], [0.4]])
def test_a_timer_runs_as_often_as_torchs(real_torch: ModuleType, noted: Any, steps: list[float]) -> None:
    def measured(b: Any) -> list[Any]:
        def timer(**options: Any) -> Any:
            clock = Clock(steps)
            return b.Timer("run()", timer=clock, globals={"run": clock.run}, **options)

        blocks: list[Any] = []
        callback = lambda *block: blocks.append(block)  # noqa: E731
        found = [
            timer(label="a").timeit(30),
            timer(sub_label="b").blocked_autorange(),
            timer(description="c").blocked_autorange(callback, min_run_time=0.01),
            timer(env="d").adaptive_autorange(max_run_time=0.3, callback=callback),
            timer(setup="x = 1").adaptive_autorange(threshold=1e-9, max_run_time=0.1),
        ]
        return [(m.number_per_run, m.raw_times, vars(m.task_spec)) for m in found] + blocks

    assert measured(benchmark) == noted(measured(of(real_torch)))


def test_a_timer_sets_the_threads_and_knows_torch() -> None:
    before = reftorch.get_num_threads()
    seen: list[Any] = []
    code = """
        seen.append(torch.get_num_threads())
    """
    timer = benchmark.Timer(code, globals={"seen": seen, "torch": reftorch}, num_threads=2)
    assert timer._task_spec.stmt == "seen.append(torch.get_num_threads())"
    timer.timeit(1)
    assert set(seen) == {2} and len(seen) == 3 and reftorch.get_num_threads() == before
    assert benchmark.Timer("torch.ones(1)").timeit(1).median > 0


def test_what_is_not_there_says_so(real_torch: ModuleType, noted: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"Timer: reftorch times Python statements only; got language C\+\+"):
        benchmark.Timer("int x = 1;", language="cpp")
    with pytest.raises(NotImplementedError, match="does not count instructions with Callgrind"):
        benchmark.Timer().collect_callgrind()
    for make in (
        lambda b: b.Timer(lambda: 1),
        lambda b: b.Timer(language="lisp"),
        lambda b: b.Timer(global_setup="x"),
        lambda b: b.Timer().repeat(),
        lambda b: b.Timer().autorange(),
        lambda b: b.Compare([1]),
        lambda b: b.FuzzedParameter("n", 1, 2, "normal"),
        lambda b: b.FuzzedParameter("n", 1, 2, {1: -1.0}),
        lambda b: b.Fuzzer([b.FuzzedParameter("n", 1, 2, "uniform")], [b.FuzzedTensor("n", (1,))]),
        lambda b: b.trim_sigfig(1.5, 1.5),
    ):
        errors = []
        for t in (reftorch, real_torch):
            with pytest.raises(Exception) as error:
                make(of(t))
            errors.append((error.type, re.sub("<function.*?>", "", str(error.value))))
        assert errors[0] == noted(errors[1])


def test_a_fuzzer_draws_as_torchs(real_torch: ModuleType) -> None:
    def samples(t: Any) -> list[Any]:
        b = of(t)
        fuzzer = b.Fuzzer(
            [
                [b.FuzzedParameter("m", 2, 64, "loguniform"), b.FuzzedParameter("p", 0.5, 2.0, "uniform")],
                b.FuzzedParameter("n", 1, 7, "uniform"),
                b.FuzzedParameter("dim", 1, 3, "uniform", strict=True),
            ],
            [
                b.FuzzedTensor("x", ("m", "n", 3), steps=(1, 2), dim_parameter="dim", max_elements=200),
                b.FuzzedTensor("y", ("n",), dtype=t.int64, min_elements=1, max_allocation_bytes=400),
                b.FuzzedTensor("z", (2, 3), tensor_constructor=lambda size, dtype, p, **rest: t.full(size, p)),
            ],
            constraints=[lambda params: params["m"] % 3 != 0],
            seed=3,
        )
        return [
            (
                {k: (v.tolist(), v.stride()) for k, v in tensors.items()},
                {k: {**v, "order": v["order"].tolist()} for k, v in properties.items()},
                params,
            )
            for tensors, properties, params in fuzzer.take(8)
        ] + [fuzzer.rejection_rate]

    ours = samples(reftorch)
    assert ours == samples(real_torch)
    assert 0 < ours[-1] < 1


def test_a_fuzzer_draws_choices_and_aliases() -> None:
    # PyTorch's own check of a distribution is the wrong way round: it refuses those that are normalized.
    choices = {benchmark.ParameterAlias("m"): 0.25, 1: 0.75}
    parameters = [benchmark.FuzzedParameter("m", 2, 9, "uniform"), benchmark.FuzzedParameter("n", distribution=choices)]
    found = [params for *_, params in benchmark.Fuzzer(parameters, [], seed=0).take(40)]
    assert {p["n"] for p in found} > {1} and all(p["n"] in (1, p["m"]) for p in found)
    with pytest.raises(AssertionError, match="Distribution is not normalized"):
        benchmark.FuzzedParameter("n", distribution={1: 0.5})
    loop = [benchmark.FuzzedParameter(a, distribution={benchmark.ParameterAlias(b): 1.0}) for a, b in ("ab", "ba")]
    with pytest.raises(ValueError, match="ParameterAlias cycle detected"):
        next(benchmark.Fuzzer(loop, []).take(1))
    with pytest.raises(ValueError, match="Failed to generate a set of valid parameters"):
        next(benchmark.Fuzzer(parameters, [], constraints=[lambda params: False]).take(1))
