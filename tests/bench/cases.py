"""What is measured: a name, the statement, and what it works on.

Mirrors: benchmarks/operator_benchmark/benchmark_core.py
Left out: configurations generated from lists; here every case is written out.

Cases are written against torch's API with the module as a parameter, so that one text measures torch, reftorch and any
other library that speaks this API.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

Made = tuple[str, dict[str, Any]] | Callable[[], object]


@dataclass(frozen=True)
class Case:
    """``make(lib)`` gives a statement with its names, or a function; the time is divided by ``per``."""

    suite: str
    make: Callable[["Library"], Made]
    per: int = 1


class Library:
    """A torch-like library: ``T`` is the module, ``nn``, ``F``, ``optim``, ``data`` are its parts."""

    def __init__(self, name: str, threads: int) -> None:
        self.T: Any = importlib.import_module(name)
        self.T.set_num_threads(threads)
        self.T.manual_seed(0)
        self.version = getattr(self.T, "__version__", "")
        self.name = name

    def part(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self.name}.{name}")

    @property
    def nn(self) -> Any:
        return self.part("nn")

    @property
    def F(self) -> Any:
        return self.part("nn.functional")

    @property
    def optim(self) -> Any:
        return self.part("optim")

    @property
    def data(self) -> Any:
        return self.part("utils.data")

    def randn(self, *shape: int, grad: bool = False) -> Any:
        return self.T.randn(*shape).requires_grad_(grad)


CASES: dict[str, Case] = {}


def statement(suite: str, name: str, text: str, make: Callable[[Library], dict[str, Any]], per: int = 1) -> None:
    """A case that is one statement over the names that ``make`` gives."""
    assert name not in CASES, name
    CASES[name] = Case(suite, lambda lib: (text, make(lib)), per)


def function(suite: str, name: str, make: Callable[[Library], Callable[[], object]], per: int = 1) -> None:
    """A case that is one function call."""
    assert name not in CASES, name
    CASES[name] = Case(suite, make, per)
