"""A program with children under the debugger: one that is forked, one that is spawned; each takes one product.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: forkserver, whose server no debugger follows.
"""

import multiprocessing

import reftorch as torch


def product(a, b):
    return a * b


def work(number):
    a = torch.full((2,), number)
    assert product(a, a).tolist() == [number * number] * 2


def run(method, number):
    child = multiprocessing.get_context(method).Process(target=work, args=(number,))
    child.start()
    child.join()
    return child.exitcode


if __name__ == "__main__":
    print("exit codes", run("fork", 2.0), run("spawn", 3.0))
