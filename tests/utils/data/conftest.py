"""What the tests of loaders share.

Mirrors: nothing in PyTorch: a file of pytest.
"""

import gc
import os
import time
from collections.abc import Iterator

import pytest

from tests.utils.data.endure import children, shared_names

PATIENCE = 10  # seconds


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """After each test there are as many processes, descriptors and names of shared memory as before."""
    gc.collect()
    before = set(children()), shared_names()
    most = descriptors() + 3  # a fork server and the resource tracker may begin
    yield
    gc.collect()
    assert set(children()) <= before[0]
    assert shared_names() == before[1]
    # The thread of multiprocessing that has sent a descriptor closes its own a moment after it has arrived.
    end = time.monotonic() + PATIENCE
    while descriptors() > most and time.monotonic() < end:
        time.sleep(0.01)
    assert descriptors() <= most
