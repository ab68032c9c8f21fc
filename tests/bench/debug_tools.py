"""What the debug tools cost: the hooks while nothing is recorded, a stop in a notebook, the call tree of a step.

    make bench-debug

Mirrors: nothing in PyTorch: it has no such tools.
Left out: the tools that only run when asked for and take as long as they take (native_trace, doctor).

The hooks are measured against a build of the same sources without them, in build/Unhooked: a small training on the
handwritten digits, by processor time. Two processes, one of each build, take turns epoch by epoch, so that both see the
same machine. Of each step of an epoch the best time counts, for whatever else the machine does can only make one
longer; a step is a millisecond, which even a busy machine does not always disturb. Several pairs, for where a process
finds its memory moves its times by some percent. Ends with 1 where a limit is passed.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNHOOKED = ROOT / "build" / "Unhooked" / "lib"
HOOKS_LIMIT, STOP_LIMIT, TREE_LIMIT = 5.0, 3.0, 0.3  # percent, seconds, seconds
PAIRS, EPOCHS, TIMES = 5, 12, 5


def use_library(folder: Path) -> None:
    """Have `import reftorch` look for its extension in another folder."""
    spec = importlib.util.spec_from_file_location("reftorch._load", ROOT / "reftorch" / "_load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.LIBRARY_DIR = folder
    sys.modules["reftorch._load"] = module


def training() -> Callable[[], list[float]]:
    """One epoch; it returns the processor seconds of its 23 steps."""
    from sklearn.datasets import load_digits

    import reftorch as torch
    from reftorch import nn
    from reftorch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    digits = load_digits()
    inputs, labels = torch.from_numpy((digits.data / 16).astype("float32")), torch.from_numpy(digits.target)
    loader = DataLoader(TensorDataset(inputs[:1440], labels[:1440]), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()

    def epoch() -> list[float]:
        times = [time.process_time()]
        for batch, targets in loader:
            optimizer.zero_grad()
            loss_of(model(batch), targets).backward()
            optimizer.step()
            times.append(time.process_time())
        return [after - before for before, after in itertools.pairwise(times)]

    return epoch


def take_turns() -> None:
    """For each line on stdin an epoch; the times of its steps go to stdout."""
    epoch = training()
    epoch()
    for _ in sys.stdin:
        print(*epoch(), flush=True)


def worker(task: str, *arguments: str) -> subprocess.Popen[str]:
    """A task in a process of its own."""
    environment = os.environ | {"REFTORCH_BUILD": "debug", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.bench.debug_tools", task, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdin=pipe, stdout=pipe)


def best_steps() -> list[list[float]]:
    """The best time of each step of an epoch, with hooks and without."""
    pair = [worker("turns", str(folder)) for folder in (ROOT / "reftorch" / "lib", UNHOOKED)]
    epochs: list[list[list[float]]] = [[], []]
    for _ in range(EPOCHS):
        for process, times in zip(pair, epochs, strict=True):
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("epoch\n")
            process.stdin.flush()
            times.append([float(word) for word in process.stdout.readline().split()])
    for process in pair:
        process.communicate()
    return [best_of(times) for times in epochs]


def best_of(epochs: Iterable[list[float]]) -> list[float]:
    return [min(times) for times in zip(*epochs, strict=True)]


def cost_of_hooks() -> float:
    """Percent of an epoch."""
    pairs = []
    for _ in range(PAIRS):
        pairs.append(best_steps())
        hooked, plain = (1000 * sum(best_of(times)) for times in zip(*pairs, strict=True))
        print(f"    the best steps so far: {hooked:.2f} ms an epoch, {plain:.2f} ms without hooks", flush=True)
    return 100 * (hooked / plain - 1)


def stop_in_a_kernel(gdb: str) -> float:
    """Seconds of a cell with %%gdb in a Jupyter kernel, over those of the cell alone; the first stop on a build, which
    reads its symbols, is not counted."""
    from tests.debug.kernel import Notebook

    with tempfile.TemporaryDirectory(prefix="reftorch-bench-") as folder:
        notebook = Notebook(Path(folder), {"REFTORCH_GDB": gdb, "REFTORCH_BUILD": "debug"})
        try:
            notebook.run("import reftorch as torch\n%load_ext reftorch.debug\na = torch.ones(2, 2)\nb = a * a")

            def seconds(source: str) -> float:
                before = time.perf_counter()
                cell = notebook.run(source)
                assert not cell.error, cell.error
                return time.perf_counter() - before

            seconds("%%gdb mul\nc = a * b")
            alone = statistics.median(seconds("c = a * b") for _ in range(TIMES))
            return statistics.median(seconds("%%gdb mul\nc = a * b") for _ in range(TIMES)) - alone
        finally:
            notebook.close()


def tree_of_a_step() -> float:
    """Processor seconds to record a training step and to write its tree, over those of the step; by then the names of
    its functions are known."""
    import reftorch as torch
    from reftorch import nn
    from reftorch.debug import call_tree

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    batch, targets = torch.randn(64, 64), torch.randint(10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        loss_of(model(batch), targets).backward()
        optimizer.step()

    def recorded() -> None:
        with call_tree() as tree:
            step()
        str(tree)

    def seconds(function: Callable[[], Any]) -> float:
        before = time.process_time()
        function()
        return time.process_time() - before

    for function in (step, recorded):
        function()
    alone = statistics.median(seconds(step) for _ in range(TIMES))
    return statistics.median(seconds(recorded) for _ in range(TIMES)) - alone


def verdict(name: str, value: float, limit: float, unit: str) -> bool:
    print(
        f"{name:60} {value:6.2f} {unit}   limit {limit:g} {unit}   {'pass' if value <= limit else 'MISS'}", flush=True
    )
    return value <= limit


def main() -> int:
    from reftorch.debug.core.find_gdb import candidates, probe

    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    print(f"{cores} cores; {load:.1f} processes were running in the last minute" + " (busy)" * (load > cores))
    results = [verdict("the call hooks, while nothing is recorded", cost_of_hooks(), HOOKS_LIMIT, "%")]
    results.append(verdict("the call tree of a training step", float(worker("tree").communicate()[0]), TREE_LIMIT, "s"))
    for path in candidates():
        gdb = probe(path)
        if not isinstance(gdb, str):
            name = f"a stop in a notebook, gdb {gdb.version[0]}.{gdb.version[1]}"
            results.append(verdict(name, stop_in_a_kernel(path), STOP_LIMIT, "s"))
    return int(not all(results))


if __name__ == "__main__":
    if sys.argv[1:2] == ["turns"]:
        use_library(Path(sys.argv[2]))
        take_turns()
    elif sys.argv[1:2] == ["tree"]:
        print(tree_of_a_step())
    else:
        sys.exit(main())
