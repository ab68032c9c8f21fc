"""What the tests of loaders share.

Mirrors: nothing in PyTorch: a file of pytest.
"""

import gc
import os
from collections.abc import Iterator

import pytest

from tests.utils.data.endure import children, shared_names


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """After each test there are as many processes, descriptors and names of shared memory as before."""
    gc.collect()
    before = set(children()), shared_names()
    descriptors = len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert set(children()) <= before[0]
    assert shared_names() == before[1]
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 3  # a fork server and the resource tracker may have begun
