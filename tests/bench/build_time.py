"""How long a learner waits for the Debug build: from a clean checkout, and after touching one kernel.

Mirrors: nothing in PyTorch: its builds take longer than anyone wants to measure twice.

Works in a copy of the checkout without .venv and builds; pip's cache is as warm as it is. Ends with 1 where a limit is
passed. The limits are for two cores.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLEAN_LIMIT, TOUCH_LIMIT = 90.0, 3.0
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "lib", "__pycache__", ".*_cache")
KERNEL = "cpp/ATen/native/cpu/BinaryOpsKernel.cpp"
CHECK = "import reftorch as torch; assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]"


def seconds(command: list[str], checkout: Path) -> float:
    """Run in the copy, as if from a shell outside this environment."""
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    before = time.perf_counter()
    done = subprocess.run(command, cwd=checkout, env=environment, text=True, capture_output=True)
    took = time.perf_counter() - before
    if done.returncode != 0:
        print(done.stdout[-3000:] + done.stderr[-3000:], file=sys.stderr)
        sys.exit(f"{' '.join(command)} failed")
    return took


def verdict(name: str, took: float, limit: float) -> bool:
    print(f"{name:44} {took:6.1f} s   limit {limit:4.0f} s   {'pass' if took <= limit else 'MISS'}", flush=True)
    return took <= limit


def main() -> int:
    python = os.environ.get("PYTHON", "python3")
    with tempfile.TemporaryDirectory(prefix="reftorch-build-") as folder:
        checkout = Path(folder) / "reftorch"
        shutil.copytree(ROOT, checkout, ignore=LEFT_OUT)
        print(f"{os.cpu_count()} cores; building a copy with {python}")
        clean = seconds(["make", "debug", f"PYTHON={python}"], checkout)
        clean += seconds([".venv/bin/python", "-c", CHECK], checkout)
        in_time = verdict("clean checkout to an importable Debug build", clean, CLEAN_LIMIT)
        touches = []
        for _ in range(3):
            (checkout / KERNEL).touch()
            touches.append(seconds(["make", "debug", f"PYTHON={python}"], checkout))
        in_time = verdict("make debug after touching one kernel", sorted(touches)[1], TOUCH_LIMIT) and in_time
        nothing = seconds(["make", "debug", f"PYTHON={python}"], checkout)
        print(f"{'make debug with nothing to do':44} {nothing:6.1f} s")
    return int(not in_time)


if __name__ == "__main__":
    sys.exit(main())
