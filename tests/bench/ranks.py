"""What two ranks on one machine take for sums of their tensors, and for a training step: a program that prints JSON.

Mirrors: nothing in PyTorch: its distributed benchmarks want GPUs.

    .venv/bin/python tests/bench/ranks.py reftorch

The program starts two processes, which compute on one thread each and meet through gloo. The numbers are the seconds of
each repetition on rank 0; a repetition ends when the result is there.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from cases import Library
from cases_train import step_of

SIZES = {"all_reduce_1kb": (256, 400), "all_reduce_1mb": (1 << 18, 60), "all_reduce_100mb": (25 * 1000 * 1000, 5)}


def repeated(work: Callable[[], object], times: int) -> list[float]:
    for _ in range(max(2, times // 10)):
        work()
    seconds = []
    for _ in range(times):
        before = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - before)
    return seconds


def measured(lib: Library) -> dict[str, list[float]]:
    dist = lib.part("distributed")
    found = {}
    for name, (numel, times) in SIZES.items():
        tensor = lib.T.zeros(numel)
        found[name] = repeated(lambda tensor=tensor: dist.all_reduce(tensor), times)
    nn = lib.nn
    layers = [nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    model = lib.part("nn.parallel").DistributedDataParallel(nn.Sequential(*layers))
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3)
    x, target = lib.randn(64, 256), lib.T.randint(0, 10, (64,))
    found["ddp_mlp"] = repeated(step_of(optimizer, lambda: lib.F.cross_entropy(model(x), target)), 100)
    return found


def main() -> None:
    name, *rest = sys.argv[1:]
    if not rest:
        with tempfile.TemporaryDirectory() as folder:
            commands = [[sys.executable, __file__, name, f"file://{folder}/store", str(rank)] for rank in range(2)]
            with subprocess.Popen(commands[1]) as other:
                try:
                    subprocess.run(commands[0], check=True)
                except BaseException:
                    other.kill()  # it would wait for the first one
                    raise
        return
    lib = Library(name, threads=1)
    dist = lib.part("distributed")
    dist.init_process_group("gloo", init_method=rest[0], rank=int(rest[1]), world_size=2)
    found = measured(lib)
    dist.barrier()
    if rest[1] == "0":
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
