"""The scenarios of threads.py, which ``make tsan`` runs under the thread sanitizer, on the build at hand.

Mirrors: test/test_autograd.py (TestMultithreadAutograd)
"""

import subprocess
import sys

import pytest

from tests.autograd import threads


@pytest.mark.parametrize("name", threads.SCENARIOS)
def test_scenario(name):
    threads.SCENARIOS[name](rounds=3)


def test_drawn_programs_that_fork():
    """``python -m tests.autograd.forks`` runs more of them. The process of its own may be killed if a program hangs."""
    command = [sys.executable, "-m", "tests.autograd.forks", "--examples", "40"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_child_that_differs_from_its_parent_is_found():
    """The check of the programs above: the child of this one sees its own process id."""
    program = """
import os
import pytest
from tests.autograd import forks

def differ(world, a, b):
    world.log.append(os.getpid())

with pytest.raises(AssertionError, match="entry . of a child is"):
    forks.run([(forks.fork, 0, 0), (differ, 0, 0)], may_fork=True)
forks.run([(forks.fork, 0, 0), (forks.compute, 0, 0)], may_fork=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
