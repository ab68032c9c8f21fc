"""Further programs give the graphs and the code of torch, or raise its errors.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import re
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.fx import both

FURTHER = both.load("further", reftorch)


def text(make: Any) -> str:
    """The code and the graph of a program, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = make()
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"
    graph = made if isinstance(made, reftorch.fx.Graph) or not hasattr(made, "code") else made.graph
    nodes = [(n.name, n.type, list(n.users), n.all_input_nodes, n.is_impure(), sorted(n.meta)) for n in graph.nodes]
    whole = f"{graph.python_code('self').src}\n{graph}\n{nodes}\n"
    if graph is not made:
        whole += made.code + made.print_readable(print_output=False) + repr(made)
    whole = whole.replace("fx_program_further_reftorch", "program").replace("fx_program_further_torch", "program")
    return re.sub(r"0x[0-9a-f]+", "0x", both.plain(whole))


@pytest.mark.parametrize("name", FURTHER.PROGRAMS)
def test_the_texts_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    theirs = both.load("further", real_torch)
    assert text(FURTHER.PROGRAMS[name]) == noted(text(theirs.PROGRAMS[name]))
