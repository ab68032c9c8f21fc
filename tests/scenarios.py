"""What the scenarios for the thread sanitizer share: threads that begin together, and the program that runs them.

A scenario is a function of the number of rounds that asserts its results. ``make tsan`` runs those of
tests/autograd/threads.py, tests/cuda/threads.py and tests/distributed/threads.py with many rounds on a build with the
thread sanitizer; an ordinary test beside each of the files runs them with few rounds on the build at hand.

Mirrors: nothing in PyTorch: it runs whole test files under the sanitizer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

THREADS = 4


def on_threads(work: Callable[[int], object], threads: int = THREADS) -> None:
    """Call ``work(i)`` on each thread; raise what the first of them raised."""
    errors: list[BaseException] = []
    together = threading.Barrier(threads)

    def run(i: int) -> None:
        try:
            together.wait()
            work(i)
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]


Scenario = Callable[[int], None]


def by_name(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    return {scenario.__name__: scenario for scenario in scenarios}


def main(scenarios: dict[str, Scenario], names: list[str], rounds: int = 200) -> None:
    """Run the scenarios with these names, or all of them, and say which were right."""
    for name in names or scenarios:
        scenarios[name](rounds)
        print(f"{name.replace('_', ' ')}: right", flush=True)
