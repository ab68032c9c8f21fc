"""Numbers that come in as data and are used as indices: none of them reaches past the memory of a tensor.

Each call runs with indices that are negative, one too large, huge, and the ends of int64. Either the call raises an
error, of the same type as in torch, or it gives what torch gives. On the sanitizer build this also says that no memory
out of bounds was read.

Mirrors: nothing in PyTorch: its tests of this kind are spread over test/test_torch.py and test/test_nn.py
"""

import math
import operator
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.native.differential import flat_numbers

BAD = [-(2**63), -(2**40), -100, -7, -1, 3, 4, 100, 2**31, 2**40, 2**62, 2**63 - 1]


def x(t: Any) -> Any:
    return t.arange(12.0).view(3, 4)


def idx(t: Any, n: int, *others: int) -> Any:
    return t.tensor([*others, n])


def small(t: Any, n: int, *others: int) -> Any:
    return t.tensor([*others, max(-(2**31), min(n, 2**31 - 1))], dtype=t.int32)


CALLS: dict[str, Callable[[Any, int], Any]] = {
    "index": lambda t, n: x(t)[idx(t, n)],
    "index two": lambda t, n: x(t)[idx(t, n), idx(t, 0)],
    "index number": lambda t, n: x(t)[n],
    "index 0-dim": lambda t, n: x(t)[t.tensor(n)],
    "index int32": lambda t, n: x(t)[small(t, n)],
    "set index": lambda t, n: operator.setitem(x(t), idx(t, n), 1.0),
    "index_put": lambda t, n: x(t).index_put((idx(t, n),), t.tensor(1.0)),
    "index_put acc": lambda t, n: x(t).index_put((idx(t, n, 0, 0),), t.tensor(1.0), accumulate=True),
    "index_select": lambda t, n: x(t).index_select(0, idx(t, n)),
    "index_select int32": lambda t, n: x(t).index_select(1, small(t, n)),
    "index_select 0-dim": lambda t, n: t.tensor(5.0).index_select(0, idx(t, n)),
    "index_add": lambda t, n: x(t).index_add(0, idx(t, n), t.ones(1, 4)),
    "index_copy": lambda t, n: x(t).index_copy(0, idx(t, n), t.ones(1, 4)),
    "index_fill": lambda t, n: x(t).index_fill(0, idx(t, n), 1.0),
    "index_reduce": lambda t, n: x(t).index_reduce(0, idx(t, n), t.ones(1, 4), "amax"),
    "gather": lambda t, n: x(t).gather(0, idx(t, n).view(1, 1)),
    "gather 0-dim": lambda t, n: t.tensor(1.0).gather(0, t.tensor(n)),
    "scatter": lambda t, n: x(t).scatter(0, idx(t, n).view(1, 1), t.ones(1, 1)),
    "scatter number": lambda t, n: x(t).scatter(1, idx(t, n).view(1, 1), 1.0),
    "scatter_add": lambda t, n: x(t).scatter_add(0, idx(t, n).view(1, 1), t.ones(1, 1)),
    "scatter_reduce": lambda t, n: x(t).scatter_reduce(0, idx(t, n).view(1, 1), t.ones(1, 1), "amax"),
    "take": lambda t, n: x(t).take(idx(t, n)),
    "put": lambda t, n: x(t).put(idx(t, n), t.ones(1)),
    "select": lambda t, n: x(t).select(0, n),
    "narrow": lambda t, n: x(t).narrow(0, n, 1),
    "narrow tensor": lambda t, n: x(t).narrow(0, t.tensor(n), 1),
    "narrow length": lambda t, n: x(t).narrow(0, 0, n),
    "slice": lambda t, n: x(t)[n:],
    "slice end": lambda t, n: x(t)[:n],
    "slice step": lambda t, n: x(t)[:: max(n, 1)],
    "select_scatter": lambda t, n: x(t).select_scatter(t.ones(4), 0, n),
    "slice_scatter": lambda t, n: x(t).slice_scatter(t.ones(1, 4), 0, n, None),
    "diagonal": lambda t, n: x(t).diagonal(n),
    "diagonal_scatter": lambda t, n: x(t).diagonal_scatter(t.ones(1), n),
    "tril": lambda t, n: x(t).tril(n),
    "roll": lambda t, n: x(t).roll(n, 0),
    "unfold": lambda t, n: x(t).unfold(0, n, 1),
    "unfold step": lambda t, n: x(t).unfold(0, 1, n),
    "tensor_split": lambda t, n: t.tensor_split(x(t), idx(t, n))[-1],
    "tensor_split list": lambda t, n: t.tensor_split(x(t), [n])[0],
    "split sizes": lambda t, n: x(t).split([n, 3 - n] if abs(n) < 10 else [n, 0])[0],
    "lu_unpack": lambda t, n: t.lu_unpack(t.eye(2), small(t, n, 1))[0],
    "lu_solve": lambda t, n: t.linalg.lu_solve(t.eye(2), small(t, n, 1), t.ones(2, 1)),
    "lu_solve right": lambda t, n: t.linalg.lu_solve(t.eye(3), small(t, n, 1, 2), t.ones(1, 3), left=False),
    "embedding": lambda t, n: t.nn.functional.embedding(idx(t, n), x(t)),
    "embedding int32": lambda t, n: t.nn.functional.embedding(small(t, n), x(t)),
    "nll_loss": lambda t, n: t.nn.functional.nll_loss(x(t), idx(t, n, 0, 0), ignore_index=-50),
    "nll_loss weight": lambda t, n: t.nn.functional.nll_loss(x(t), idx(t, n, 0, 0), t.ones(4), ignore_index=-50),
    "nll_loss each": lambda t, n: t.nn.functional.nll_loss(x(t), idx(t, n, 0, 0), ignore_index=-50, reduction="none"),
    "nll_loss 1d": lambda t, n: t.nn.functional.nll_loss(t.ones(3), t.tensor(n), ignore_index=-50),
    "cross_entropy": lambda t, n: t.nn.functional.cross_entropy(x(t), idx(t, n, 0, 0), ignore_index=-50),
    "cross_entropy smooth": lambda t, n: t.nn.functional.cross_entropy(
        x(t), idx(t, n, 0, 0), ignore_index=-50, label_smoothing=0.1
    ),
    "one_hot": lambda t, n: t.nn.functional.one_hot(idx(t, n), 3),
    "bucketize": lambda t, n: t.bucketize(idx(t, n), t.tensor([1, 2, 3])),
    "searchsorted": lambda t, n: t.searchsorted(t.tensor([1, 2, 3]), idx(t, n)),
    "searchsorted sorter": lambda t, n: t.searchsorted(t.ones(3), t.ones(2), sorter=idx(t, n, 0, 1)),
    "repeat_interleave": lambda t, n: x(t).repeat_interleave(idx(t, min(n, 100), 1, 1), 0),
    "repeat_interleave size": lambda t, n: x(t).repeat_interleave(t.tensor([1, 1, 1]), 0, output_size=min(n, 1000)),
    "bincount": lambda t, n: t.bincount(idx(t, n)) if n < 1000 or n > 2**60 else None,
    "bincount weights": lambda t, n: t.bincount(idx(t, n), t.ones(1)) if n < 1000 or n > 2**60 else None,
    "unravel_index": lambda t, n: t.unravel_index(idx(t, n), (3, 4)),
    "multinomial": lambda t, n: t.multinomial(t.tensor([0.0, 0.0, 1.0]), n).shape if n < 1000 else None,
    "masked_scatter": lambda t, n: t.zeros(4).masked_scatter(t.ones(4, dtype=t.bool), t.ones(min(abs(n), 4) % 4)),
    "take_along_dim": lambda t, n: t.take_along_dim(x(t), idx(t, n).view(1, 1), 0) if abs(n) <= 4 else None,
    "gather backward": lambda t, n: x(t).requires_grad_().gather(1, idx(t, n).view(1, 1)).sum().backward(),
    "kthvalue": lambda t, n: x(t).kthvalue(n)[0],
    "topk": lambda t, n: x(t).topk(n)[0],
    "sort dim": lambda t, n: x(t).sort(n)[0],
    "movedim": lambda t, n: x(t).movedim(n, 0),
    "squeeze": lambda t, n: x(t).squeeze(n),
    "unsqueeze": lambda t, n: x(t).unsqueeze(n),
    "flip": lambda t, n: x(t).flip(n),
    "householder": lambda t, n: t.linalg.householder_product(t.eye(3), t.ones(3))[0] if n == 3 else None,
    "histc": lambda t, n: t.histc(x(t), 4, float(n), float(n)),
    "histogram": lambda t, n: t.histogram(x(t), 4, range=(float(n), float(n) + 1.0)),
    "segment_reduce": lambda t, n: t.segment_reduce(x(t), "sum", lengths=idx(t, n, 1)),
    "segment_reduce offsets": lambda t, n: t.segment_reduce(x(t), "sum", offsets=idx(t, n, 0)),
    "pdist": lambda t, n: t.combinations(t.arange(3), r=n) if n < 10 else None,
    "tril_indices": lambda t, n: t.tril_indices(3, 3, n),
}
# Calls that are not made in torch, and why.
NOT_COMPARED = {("segment_reduce offsets", n): "torch reads beyond the data, and crashes" for n in BAD if n > 3}


def outcome(lib: Any, name: str, n: int) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = CALLS[name](lib, n)
    except (AttributeError, NotImplementedError, MemoryError, SystemError):
        raise
    except Exception as error:
        return type(error).__name__
    return None if name == "embedding" and n == -1 else flat_numbers(value) if value is not None else None


@pytest.mark.parametrize("name", CALLS)
def test_indices_out_of_range(name: str, real_torch_or_none: Any) -> None:
    for n in BAD:
        ours = outcome(reftorch, name, n)
        # At the ends of int64 torch overflows in some calls that have an answer.
        if real_torch_or_none is None or (name, n) in NOT_COMPARED or abs(n) > 2**62:
            continue
        theirs = outcome(real_torch_or_none, name, n)
        same = ours == theirs or (
            isinstance(ours, list)
            and isinstance(theirs, list)
            and all(math.isclose(a, b, rel_tol=1e-5) or a != a for a, b in zip(ours, theirs, strict=True))
        )
        assert same, (n, ours, theirs)


# Sizes that no memory holds. A child process with a limit on time answers: it must refuse at once.
ENDLESS = [
    "torch.vander(x, N=2**60)",
    "torch.linalg.vander(x, N=2**60)",
    "torch.arange(2**62)",
    "torch.linspace(0, 1, 2**61)",
    "torch.logspace(0, 1, 2**61)",
    "torch.randperm(2**60)",
    "torch.eye(2**40)",
    "torch.tril_indices(2**40, 2**40)",
    "torch.hann_window(2**60)",
    "torch.bartlett_window(2**61)",
    "torch.combinations(x, 2**40)",
    "torch.cartesian_prod(*[x] * 30)",
    "torch.bincount(torch.tensor([2**61]))",
    "torch.bincount(torch.tensor([1]), minlength=2**61)",
    "torch.repeat_interleave(x, 2**60)",
    "torch.repeat_interleave(torch.tensor([2**60, 2**60]))",
    "torch.histc(x, 2**60)",
    "torch.nn.functional.one_hot(torch.tensor([2**60]))",
    "x.diag_embed(2**60)",
    "x.repeat(2**62, 2**62)",
    "x.tile((2**60,))",
    "torch.full((2**60,), 1.0)",
    "torch.randint(5, (2**61,))",
    "torch.multinomial(x, 2**60, True)",
    "torch.diff(x, 2**60)",
    "x.tensor_split(2**60)",
    "x.expand(2**62, 6)",
]


def test_sizes_that_no_memory_holds_are_refused_at_once() -> None:
    program = "import reftorch as torch\nx = torch.arange(6.0)\nfor text in " + repr(ENDLESS) + ":\n"
    program += "    print(text, flush=True)\n    try:\n        eval(text)\n    except (RuntimeError, MemoryError):\n"
    program += "        pass\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.splitlines()[-1:] + done.stderr.splitlines()[-3:]
    assert done.stdout.splitlines() == ENDLESS
