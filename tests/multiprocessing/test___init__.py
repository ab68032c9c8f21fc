"""The names of threads.

Mirrors: test/test_multiprocessing.py
Leaves out: tensors in queues and pipes (test_reductions.py), starting processes (test_spawn.py).
"""

import threading
from types import ModuleType

import pytest

import reftorch.multiprocessing as mp
from tests.answers.watched import asked


@pytest.mark.parametrize("name", ["worker 7", "a name of more than 15 bytes"])
def test_the_name_of_a_thread(name: str, real_torch_or_none: ModuleType | None) -> None:
    found = []

    def ask() -> None:
        mp._set_thread_name(name)
        found.append(mp._get_thread_name())
        if real_torch_or_none is not None:
            found.append(asked(real_torch_or_none, lambda lib: lib.multiprocessing._get_thread_name()))

    before = mp._get_thread_name()
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert set(found) == {name[:15]}
    assert mp._get_thread_name() == before
