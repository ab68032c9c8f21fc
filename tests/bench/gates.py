"""reftorch's Release build beside torch, against the limits the project sets itself; ends with 1 where one is missed.

Mirrors: nothing in PyTorch: it compares with its own past, not with another library.

    make bench                          every gate on one thread, then both suites whole on one and on two
    make bench ARGS='--only graph'      the groups whose name contains a word
    make bench ARGS='--only suite --threads 2'
    make bench ARGS='--rounds 30'       more patience on a noisy machine
    make bench ARGS='--store'           write the ratios to measured.json, which the site shows
"""

import argparse
import datetime
import importlib.util
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import UNSET_VARIABLES, Result, Worker, chosen_cases, measure, ratio, readable, started, user_environment


@dataclass(frozen=True)
class Gate:
    """``cases`` must take at most ``gate`` times what torch takes; ``stretch`` is what we hope for."""

    group: str
    gate: float
    stretch: float
    cases: tuple[str, ...]


def has_wide_fma() -> bool:
    """Whether this is a processor of AMD that runs an AVX-512 multiply-add at full width.

    There our BLAS wins a factor of nearly two over PyTorch's: MKL uses AVX-512 on processors of Intel only. Zen 4
    (family 25) has AVX-512 too, but runs each instruction of 512 bits in two halves.
    """
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    family = re.search(r"cpu family\s*: (\d+)", text)
    return "AuthenticAMD" in text and "avx512f" in text and family is not None and int(family[1]) > 25


WIDE_FMA = has_wide_fma()
MEASURED = Path(__file__).with_name("measured.json")
MATMUL = (0.65, 0.47) if WIDE_FMA else (1.1, 0.9)
# Products are four fifths of this step: where they take as long as torch's, so do four fifths of it.
MLP = (0.6, 0.4) if WIDE_FMA else (0.85, 0.65)
TINY = (
    "empty_1", "zeros_64", "tensor_list_3", "add_1", "add_64", "add_scalar", "iadd_64", "broadcast_8x8_8", "relu_64",
    "exp_64", "mm_8x8", "sum_64", "sum_dim", "softmax_8x8", "view", "transpose", "index_*", "item", "detach",
    "no_grad",
)  # fmt: skip
GATES = (
    Gate("tiny op, view, index", 0.35, 0.15, TINY),
    # A tuple of ints: half of the time is the interpreter's, the other half its allocations, and torch has the same.
    Gate("the shape attribute", 0.8, 0.6, ("shape",)),
    Gate("graph node, forward", 0.35, 0.15, ("*_grad", "chain_[!f]*_forward")),
    Gate("graph node, backward", 0.4, 0.15, ("chain_[!f]*_backward",)),
    Gate("custom Function", 0.35, 0.15, ("chain_function_forward", "chain_function_backward")),
    Gate("Module call", 0.5, 0.15, ("module_*",)),
    Gate("optimizer, per parameter", 0.25, 0.15, ("sgd_per_param", "adam_per_param")),
    Gate("matmul", *MATMUL, ("matmul_*", "linear_*", "bmm_*")),
    Gate("add, mul, sum, relu 1e6", 1.15, 0.9, ("add_1e6", "mul_1e6", "sum_1e6", "relu_1e6")),
    Gate("out of place 1e7", 0.3, 0.15, ("add_1e7", "mul_1e7", "relu_1e7")),
    Gate("max, argmax, where", 0.5, 0.2, ("max_1e6", "argmax_1e6", "where_1e6")),
    Gate("exp, tanh, gelu, sigmoid in the cache", 1.0, 0.5, ("exp_1e6", "tanh_1e6", "gelu_1e6", "sigmoid_1e6")),
    Gate("softmax, layer norm", 1.0, 0.65, ("softmax_1e6", "layer_norm_1e6")),
    Gate("batch norm", 1.0, 0.5, ("batch_norm_*",)),
    Gate("attention, forward", 0.9, 0.6, ("sdpa_*_forward",)),
    Gate("attention, forward and backward", 1.0, 0.6, ("sdpa_*_gradients",)),
    Gate("convolution, forward", 1.3, 0.8, ("conv2d_*_forward",)),
    Gate("convolution, forward and backward", 1.2, 0.6, ("conv2d_*_gradients",)),
    Gate("training step, MLP", *MLP, ("mlp_sgd", "mlp_adam")),
    Gate("training step, CNN", 0.7, 0.45, ("cnn_sgd",)),
    Gate("training step, GPT", 0.8, 0.55, ("gpt_adamw", "gpt_adamw_sdpa")),
    Gate("training step, LSTM and GRU", 1.0, 0.6, ("lstm_adam", "gru_adam")),
    Gate("fx, tracing a GPT", 0.6, 0.4, ("fx_trace",)),
    Gate("fx, running the traced GPT", 1.05, 0.6, ("fx_run", "fx_run_wide")),
    Gate("DataLoader", 0.35, 0.2, ("loader_tensor_0_workers",)),
    Gate("DataLoader with two workers", 0.6, 0.3, ("loader_tensor_2_workers",)),
    Gate("saving and loading 1 GB", 1.0, 0.7, ("save_1gb", "load_1gb")),
    Gate("loading 1 GB with mmap", 1.0, 0.5, ("load_mmap_1gb",)),  # milliseconds, whatever the size
)
# Two workers beside one process: the time of both libraries, and ours is judged.
DECODE = Gate("decode-like dataset, two workers", 1 / 1.8, 1 / 1.95, ("loader_decode_*",))
PEAK = Gate("peak memory of a CNN step", 1.0, 0.8, ("peak_cnn",))
DIGITS = "digits CNN, 98.5 % in 20 s"
IMPORT = Gate("import", 0.12, 0.03, ("import",))
RANKS = (
    Gate("two ranks, all_reduce of 1 KB", 0.6, 0.4, ("all_reduce_1kb",)),
    Gate("two ranks, all_reduce of 1 MB", 0.8, 0.6, ("all_reduce_1mb",)),
    Gate("two ranks, all_reduce of 100 MB", 0.9, 0.7, ("all_reduce_100mb",)),
    Gate("two ranks, training step", 0.9, 0.7, ("ddp_mlp",)),
)
LAUNCH = Gate("two ranks, launching an empty program", 0.3, 0.25, ("launch",))

# The geometric mean of the ratios of a whole suite, and what one case may be at most where no reason is written below.
MEANS = {"ops": 0.25, "kernels": 0.45}
SUITES = "suites, whole"
LARGEST_RATIO = 1.3
REASONS: dict[str, str] = {}


def measured_pattern(pattern: str) -> tuple[str, ...]:
    """A backward is measured as both ways less forward: which cases that takes."""
    if not pattern.endswith("_backward"):
        return (pattern,)
    stem = pattern.removesuffix("_backward")
    return f"{stem}_forward", f"{stem}_both"


def backward_only(both: Result, forward: Result) -> Result:
    error = both.error or forward.error
    return Result([b - f for b, f in zip(both.samples, forward.samples, strict=False)], error)


def measure_gate(gate: Gate, workers: list[Worker], rounds: int) -> Iterator[tuple[str, dict[str, Result]]]:
    """The results of every case of a gate, the differences worked out."""
    patterns = [p for pattern in gate.cases for p in measured_pattern(pattern)]
    results = dict(measure(workers, chosen_cases(["ops", "kernels", "train", "data", "fx"], patterns), rounds))
    if not any(pattern.endswith("_backward") for pattern in gate.cases):
        yield from results.items()
        return
    for name, both in results.items():
        if name.endswith("_both"):
            stem = name.removesuffix("_both")
            forward = results[f"{stem}_forward"]
            yield f"{stem}_backward", {lib: backward_only(both[lib], forward[lib]) for lib in both}


def import_times(libraries: list[str], rounds: int) -> dict[str, Result]:
    """Seconds that ``import`` takes in a fresh interpreter, the bare interpreter subtracted; taken in turn."""
    results = {library: Result() for library in libraries}
    for _ in range(rounds):
        bare = seconds_to_run("pass")
        for library, result in results.items():
            result.samples.append(max(seconds_to_run(f"import {library}") - bare, 1e-4))
    return results


def peak_memories(libraries: list[str]) -> dict[str, Result]:
    """Bytes that training steps need at their peak, each time in a fresh process."""
    results = {library: Result() for library in libraries}
    for _ in range(3):
        for library, result in results.items():
            command = [sys.executable, str(Path(__file__).with_name("peak_memory.py")), library]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=user_environment())
            result.samples.append(float(done.stdout))
    return results


def times_of_ranks(libraries: list[str]) -> dict[str, dict[str, Result]]:
    """The seconds of each case of ranks.py, for each library; the libraries take turns."""
    results: dict[str, dict[str, Result]] = {}
    for _ in range(3):
        for library in libraries:
            command = [sys.executable, str(Path(__file__).with_name("ranks.py")), library]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=user_environment())
            for case, seconds in json.loads(done.stdout).items():
                results.setdefault(case, {}).setdefault(library, Result()).samples.extend(seconds)
    return results


def launch_times(libraries: list[str], rounds: int) -> dict[str, Result]:
    """Seconds that the launcher takes for two ranks of a program that does nothing; taken in turn."""
    results = {library: Result() for library in libraries}
    for _ in range(rounds):
        for library, result in results.items():
            launcher = [sys.executable, "-m", f"{library}.distributed.run", "--standalone", "--nproc-per-node=2"]
            before = time.perf_counter()
            subprocess.run([*launcher, os.devnull], check=True, capture_output=True, env=user_environment())
            result.samples.append(time.perf_counter() - before)
    return results


def seconds_to_run(code: str) -> float:
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=user_environment())
    return time.perf_counter() - before


def processor() -> str:
    info = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return models[0] if models else platform.processor()


def print_machine() -> None:
    print(f"CPU: {processor()}, wide FMA of AMD: {'yes' if WIDE_FMA else 'no'}; the gates: one thread")
    unset = [name for name in UNSET_VARIABLES if name in os.environ]
    if unset:
        print(f"unset for the measurement, as a user's machine has it: {', '.join(unset)}")
    show = subprocess.run(
        [sys.executable, "-c", "import reftorch; print(reftorch.__config__.show())"], text=True, capture_output=True
    )
    print(show.stdout.strip() or show.stderr.strip())


class Table:
    """Prints a line a case, counts what the verdicts were, and keeps the ratios of each group."""

    def __init__(self) -> None:
        self.verdicts = {"pass": 0, "MISS": 0, "absent": 0}
        self.ratios: dict[str, dict[str, float]] = {}

    def ratio(self, name: str, results: dict[str, Result]) -> float | None:
        """How many times as long as torch; None, which is told, where one of the two did not run."""
        ours, theirs = results["reftorch"], results["torch"]
        against = ratio(ours, theirs)
        if against is None:
            self.verdicts["absent"] += 1
            print(f"  {name:26} {(ours.error or theirs.error)[:84]}", flush=True)
        return against

    def judge(self, value: float, limit: float) -> str:
        verdict = "pass" if value <= limit else "MISS"
        self.verdicts[verdict] += 1
        return verdict

    def add(self, name: str, gate: Gate, results: dict[str, Result], unit: Callable[[float], str] = readable) -> None:
        against = self.ratio(name, results)
        if against is None:
            return
        self.ratios.setdefault(gate.group, {})[name] = round(against, 3)
        note = " (stretch)" if against <= gate.stretch else ""
        times = " ".join(f"{unit(results[library].median):>10}" for library in ("torch", "reftorch"))
        verdict = self.judge(against, gate.gate)
        print(f"  {name:26} {times} {against:8.3f} {gate.gate:8.2f}   {verdict}{note}", flush=True)

    def add_speedup(self, gate: Gate, results: dict[str, dict[str, Result]]) -> None:
        """How long two workers take relative to one process, in each library; ours is judged."""
        one, two = results["loader_decode_0_workers"], results["loader_decode_2_workers"]
        for library in ("torch", "reftorch"):
            against = ratio(two[library], one[library])
            if against is None:
                self.verdicts["absent"] += 1
                print(f"  {library:26} {(two[library].error or one[library].error)[:84]}", flush=True)
                continue
            if library == "reftorch":
                self.ratios[gate.group] = {"loader_decode_2_workers": round(against, 3)}
            times = " ".join(f"{readable(each[library].median):>10}" for each in (one, two))
            verdict = f"{gate.gate:8.2f}   {self.judge(against, gate.gate)}" if library == "reftorch" else ""
            print(f"  {library:26} {times} {against:8.3f} {verdict}", flush=True)

    def add_suite(self, suite: str, limit: float, workers: list[Worker], rounds: int, threads: int) -> None:
        """The geometric mean of a suite's ratios, and each case that is too slow."""
        ratios = []
        for name, results in measure(workers, chosen_cases([suite], ["*"]), rounds):
            against = self.ratio(name, results)
            if against is None:
                continue
            ratios.append(against)
            if against > LARGEST_RATIO:
                self.verdicts["MISS"] += name not in REASONS
                note = REASONS.get(name, f"MISS: above {LARGEST_RATIO}, and no reason is written")
                print(f"  {name:26} {against:30.3f} {LARGEST_RATIO:8.2f}   {note}", flush=True)
        mean = statistics.geometric_mean(ratios)
        title = f"{suite}, {len(ratios)} cases, {threads} thread{'s' * (threads > 1)}"
        self.ratios.setdefault(SUITES, {})[title] = round(mean, 3)
        print(f"  {title:36} {mean:20.3f} {limit:8.2f}   {self.judge(mean, limit)}", flush=True)

    def store(self, rounds: int) -> None:
        """Write the ratios, and how and when they were measured.

        A group that was not measured this time keeps its stored ratios, and their date stays beside the new one. That
        holds on the same machine, with the same torch and the same rounds; otherwise the group is taken out.
        """
        import torch  # its version stands beside the ratios

        today = datetime.date.today().isoformat()
        how = {
            "processor": processor(),
            "cores": os.cpu_count(),
            "torch": torch.__version__.split("+")[0],
            "rounds": rounds,
        }
        stored = json.loads(MEASURED.read_text())
        kept = stored["ratios"] if how.items() <= stored.items() else {}
        dates = {today, *stored["dates"]} if kept.keys() - self.ratios.keys() else {today}
        ratios = {**kept, **self.ratios}
        MEASURED.write_text(json.dumps({"dates": sorted(dates), **how, "ratios": ratios}, indent=1) + "\n")

    def close(self) -> int:
        print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items()))
        return int(self.verdicts["pass"] == 0 or self.verdicts["MISS"] + self.verdicts["absent"] > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a word in the names of the groups to run")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", default="1,2", help="with how many threads the suites are run whole")
    parser.add_argument("--store", action="store_true", help=f"write the ratios to {MEASURED.name}, for the site")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed, so there is nothing to compare with and no gate can be judged.")
        print("    .venv/bin/pip install torch==2.13.0, then make bench")
        return 1
    print_machine()
    print(f"\n  {'':26} {'torch':>10} {'reftorch':>10} {'ratio':>8} {'gate':>8}")
    table = Table()
    with started(["torch", "reftorch"], threads=1) as workers:
        if len(workers) < 2:
            return 1
        for gate in GATES:
            if options.only in gate.group:
                print(gate.group)
                for name, results in measure_gate(gate, workers, options.rounds):
                    table.add(name, gate, results)
    if options.only in DECODE.group:
        print(f"{DECODE.group}: time relative to one process")
        with started(["torch", "reftorch"], threads=1) as workers:
            table.add_speedup(DECODE, dict(measure_gate(DECODE, workers, options.rounds)))
    if options.only in PEAK.group:
        print(PEAK.group)
        table.add("peak_cnn", PEAK, peak_memories(["torch", "reftorch"]), unit=lambda size: f"{size / 1e6:.1f} MB")
    if options.only in DIGITS:
        print(DIGITS)
        program = str(Path(__file__).with_name("digits.py"))
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=user_environment())
        table.verdicts["MISS" if done.returncode else "pass"] += 1
        print(f"  {(done.stdout or done.stderr).strip().splitlines()[-1]:60} {'MISS' if done.returncode else 'pass'}")
    if options.only in IMPORT.group:
        print(IMPORT.group)
        table.add("import", IMPORT, import_times(["torch", "reftorch"], min(options.rounds, 7)))
    if any(options.only in gate.group for gate in RANKS):
        times = times_of_ranks(["torch", "reftorch"])
        for gate in RANKS:
            if options.only in gate.group:
                print(gate.group)
                table.add(gate.cases[0], gate, times[gate.cases[0]])
    if options.only in LAUNCH.group:
        print(LAUNCH.group)
        table.add("launch", LAUNCH, launch_times(["torch", "reftorch"], min(options.rounds, 5)))
    if options.only in SUITES:
        print(f"{SUITES}: geometric mean of the ratios")
        for threads in map(int, options.threads.split(",")):
            with started(["torch", "reftorch"], threads) as workers:
                for suite, limit in MEANS.items():
                    table.add_suite(suite, limit, workers, options.rounds, threads)
    if options.store:
        table.store(options.rounds)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
