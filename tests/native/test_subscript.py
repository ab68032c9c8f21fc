"""x[index] and x[index] = value, for every kind of index that Python can write, against torch.

Mirrors: test/test_indexing.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch

INDICES = """
0 | -1 | 5 | -3 | True | False | None | ... | 0:1 | ::2 | ::-1 | 1:5:0 | slice(0,1.5) | slice(L(0),L(1))
[0,1] | (0,1) | [0,1],[1,2] | [True,False] | [] | [], | [[]] | [1.0] | range(2) | 1,range(2) | T.Size([0,1])
[[0,1],[1,0]] | [(0,1),(1,0)] | [[0,1],[0]] | [[[0]]] | [[[[0]]]] | [range(2)] | [None] | [...] | [0,slice(None)]
[slice(None),0] | [slice(0,1),[0,1]] | [[True,False,True],[False,True,True]] | [L(0),L(1)] | [L([0,1]),L([1,0])]
np.array([0,1]) | np.int64(1) | np.uint8(1) | np.array(1) | np.array(True) | np.bool_(True) | np.array([True,False])
np.array([]) | np.array([0.5]) | np.array([0,1],dtype=np.int32) | np.array([[0,1],[1,0]]),1 | np.float64(1)
[np.int64(0),np.int64(1)] | [np.array([0,1]),np.array([1,0])] | (np.array([0,1]),[0,1]) | (y>5).numpy() | y>5
L(1) | L(True) | L(2) | L(1,dtype=T.int16) | L([1,0],dtype=T.int32) | L([1,0],dtype=T.int16) | L([0.]) | L(0.),
L([2]) | L([3]),0 | 0,L([5]) | L([-4]),0 | L([],dtype=T.long) | L([True]), | L([True,False]),0
L([[0,1]]),[0,1] | L(0),L(1) | L([0]),0,L([1]) | L([0,1]),:,L([1,2]) | L(True),L([0,1]) | L([0,1]),L(True)
L([[True,False,True],[False,True,True]]),[0,1,2,3] | L([[True,False,True],[False,True,True]]),1
...,0 | ...,... | 0,0,0,0 | (0,)*4 | (slice(None),)*4 | None,0 | 0,None | True,0 | False,0 | 0,True | True,True
None,None,...,None | [0,1],...,[1,2] | 0,:,L([1,2]) | [0,1],:,2 | :,[0],1:,None | 0:1,None,[0,1] | None,L([1])
L([1]),None | L([1]),... | ...,L([1]),... | 0,...,L([0,1]),None | 1,[0,-3] | 1,[3]
1.5 | 0.0, | 'a' | '' | b'a' | {0} | {} | object() | ['a'] | [[0,'a']] | iter([0])
"""

VALUES = (
    "7",
    "True",
    "L(3)",
    "L(3.7)",
    "L([1])",
    "L([[[[1]]]])",
    "T.ones(4)",
    "T.ones(9)",
    "[1]",
    "np.arange(4)",
    "None",
)


def outcome(lib: Any, statement: str) -> Any:
    """What is in r, or left in y; or the error's type and words, without our hint."""
    names = {"T": lib, "L": lib.tensor, "np": np, "y": lib.arange(24).view(2, 3, 4)}
    try:
        exec(statement, names)
    except Exception as error:  # whatever the libraries raise is what is compared
        return type(error).__name__, str(error).split("\n")[0].split(". Hint")[0].replace("reftorch", "torch")
    result = names.get("r", names["y"])
    return tuple(result.shape), result.stride() if result.numel() else (), result.flatten().tolist()


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("index", [i.strip() for line in INDICES.strip().splitlines() for i in line.split("|")])
def test_subscript(index: str, real_torch: Any) -> None:
    for statement in (f"r = y[{index}]", *(f"y[{index}] = {value}" for value in VALUES)):
        assert outcome(reftorch, statement) == outcome(real_torch, statement), statement


def test_a_list_that_is_read_as_a_tuple_warns(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        y = lib.arange(6).view(2, 3)
        with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
            assert y[[slice(0, 1), 1]].tolist() == [1]
        with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
            y[[[0, 1]]] = 0


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_index_whose_iter_raises() -> None:
    class Broken:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, i: int) -> Any:
            return slice(None)

        def __iter__(self) -> Any:
            raise ValueError("no items today")

    with pytest.raises(ValueError, match="no items today"):
        reftorch.ones(2, 2)[Broken()]
    with pytest.raises(ValueError, match="no items today"):
        reftorch.ones(2, 2)[Broken()] = 1
