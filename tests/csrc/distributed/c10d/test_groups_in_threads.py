"""Process groups that several threads make and end at the same time: in programs of their own, which may crash.

Mirrors: nothing in PyTorch, whose ranks are processes.
Left out: collectives; see tests/distributed/distributed_c10d.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]

# A short switch interval makes the threads meet inside the constructor. While pybind11 entered a new group in its table
# of instances without the GIL, four of five runs ended with "Tried to deallocate unregistered instance!".
MANY_GROUPS = """
import sys, threading, time
from datetime import timedelta
import reftorch.distributed as dist

def make():
    for _ in range(200):
        dist.ProcessGroupGloo(dist.HashStore(), 0, 1, timedelta(seconds=20)).shutdown()

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=make) for _ in range(4)]
began = time.monotonic()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# While a shutdown waited until the mailbox looked again, which it does five times a second, this took 27 seconds.
assert time.monotonic() - began < 20
print("whole")
"""


def test_threads_make_and_end_groups_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", MANY_GROUPS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("whole\n", 0), done.stderr


def test_no_factory_of_a_binding_runs_without_the_gil() -> None:
    """pybind11 enters what a factory returns in its table inside the call, so a guard of the call is too wide."""
    found = 0
    for path in sorted((ROOT / "cpp" / "csrc").rglob("*.cpp")):
        for definition in re.split(r"\.def(?:_\w+)?\(", path.read_text(encoding="utf-8")):
            if definition.startswith("py::init(["):
                found += 1
                after = definition[definition.index("})") :]
                assert "no_gil" not in after and "call_guard" not in after, f"{path}: {definition[:200]}"
    assert found > 3
