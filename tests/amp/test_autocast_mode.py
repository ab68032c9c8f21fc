"""Autocast on the CPU against torch's: the dtypes of results, gradients, the state of the thread, errors.

Mirrors: test/test_autocast.py, torch/testing/_internal/autocast_test_lists.py
Leaves out: CUDA, TorchScript.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import _C
from reftorch.utils._python_dispatch import TorchDispatchMode
from tests.answers.watched import asked
from tests.nn.utils.both import compare, tried

DTYPES = ("bfloat16", "float16")


def x(lib: Any, *shape: int, dtype: str = "float32") -> Any:
    count = 1
    for size in shape:
        count *= size
    return (lib.arange(count, dtype=lib.float64).reshape(shape) * 0.37).sin().to(getattr(lib, dtype))


def spd(lib: Any, dtype: str = "float32") -> Any:
    a = x(lib, 3, 3, dtype="float64")
    return (a @ a.T + lib.eye(3, dtype=lib.float64)).to(getattr(lib, dtype))


def at(name: str, *args: Callable[[Any, str], Any], **kwargs: Any) -> Callable[[Any, str], Any]:
    """A call of ``lib.name`` or ``lib.nn.functional.name`` with tensors of a dtype."""

    def call(lib: Any, dtype: str) -> Any:
        space = lib
        for part in name.split("."):
            space = getattr(space, part)
        return space(*[arg(lib, dtype) if callable(arg) else arg for arg in args], **kwargs)

    return call


def t(*shape: int) -> Callable[[Any, str], Any]:
    return lambda lib, dtype: x(lib, *shape, dtype=dtype)


def ints(*values: int) -> Callable[[Any, str], Any]:
    return lambda lib, dtype: lib.tensor(values)


def probs(*shape: int) -> Callable[[Any, str], Any]:
    return lambda lib, dtype: x(lib, *shape, dtype=dtype).abs() * 0.5 + 0.25


def square(lib: Any, dtype: str) -> Any:
    return spd(lib, dtype)


F = "nn.functional."
CALLS: dict[str, Callable[[Any, str], Any]] = {
    # 16 bits
    "mm": at("mm", t(2, 3), t(3, 4)),
    "matmul": at("matmul", t(2, 3), t(3)),
    "bmm": at("bmm", t(2, 2, 3), t(2, 3, 2)),
    "baddbmm": at("baddbmm", t(2, 2, 2), t(2, 2, 3), t(2, 3, 2)),
    "addmm": at("addmm", t(2, 4), t(2, 3), t(3, 4)),
    "addbmm": at("addbmm", t(2, 2), t(2, 2, 3), t(2, 3, 2)),
    "linear": at(F + "linear", t(2, 3), t(4, 3), t(4)),
    "conv1d": at(F + "conv1d", t(1, 2, 5), t(3, 2, 2), t(3)),
    "conv2d": at(F + "conv2d", t(1, 2, 5, 4), t(3, 2, 2, 2), None),
    "conv2d same": at(F + "conv2d", t(1, 2, 5, 4), t(3, 2, 3, 3), None, padding="same"),
    "conv3d": at(F + "conv3d", t(1, 2, 3, 3, 3), t(3, 2, 2, 2, 2), None),
    "conv_transpose1d": at(F + "conv_transpose1d", t(1, 2, 5), t(2, 3, 2)),
    "conv_transpose2d": at(F + "conv_transpose2d", t(1, 2, 5, 4), t(2, 3, 2, 2)),
    "linalg_vecdot": at("linalg.vecdot", t(2, 3), t(2, 3)),
    "prelu": at(F + "prelu", t(2, 3), t(1)),
    "scaled_dot_product_attention": at(F + "scaled_dot_product_attention", t(1, 3, 4), t(1, 3, 4), t(1, 3, 4)),
    "einsum": at("einsum", "ij,jk->ik", t(2, 3), t(3, 4)),
    # float32
    "avg_pool3d": at(F + "avg_pool3d", t(1, 1, 4, 4, 4), 2),
    "max_pool3d": at(F + "max_pool3d", t(1, 1, 4, 4, 4), 2),
    "binary_cross_entropy": at(F + "binary_cross_entropy", probs(2, 3), probs(2, 3)),
    "binary_cross_entropy_with_logits": at(F + "binary_cross_entropy_with_logits", t(2, 3), probs(2, 3)),
    "grid_sample": at(F + "grid_sample", t(1, 1, 3, 3), t(1, 2, 2, 2), align_corners=False),
    "prod": at("prod", t(2, 3)),
    "prod dim": at("prod", t(2, 3), 1),
    "quantile": at("quantile", t(6), 0.3),
    "nanquantile": at("nanquantile", t(6), 0.3),
    "cdist": at("cdist", t(2, 3), t(4, 3)),
    "trace": at("trace", t(3, 3)),
    "mse_loss": at(F + "mse_loss", t(2, 3), probs(2, 3)),
    "l1_loss": at(F + "l1_loss", t(2, 3), probs(2, 3)),
    "huber_loss": at(F + "huber_loss", t(2, 3), probs(2, 3)),
    "smooth_l1_loss": at(F + "smooth_l1_loss", t(2, 3), probs(2, 3)),
    "nll_loss": at(F + "nll_loss", t(2, 3), ints(0, 2)),
    "cross_entropy": at(F + "cross_entropy", t(2, 3), ints(0, 2)),
    "kl_div": at(F + "kl_div", t(2, 3), probs(2, 3), reduction="sum"),
    "poisson_nll_loss": at(F + "poisson_nll_loss", t(2, 3), probs(2, 3)),
    "soft_margin_loss": at(F + "soft_margin_loss", t(2, 3), t(2, 3)),
    "multi_margin_loss": at(F + "multi_margin_loss", t(2, 3), ints(0, 2)),
    "multilabel_margin_loss": at(F + "multilabel_margin_loss", t(3), ints(0, -1, 1)),
    "cosine_embedding_loss": at(F + "cosine_embedding_loss", t(2, 3), probs(2, 3), ints(1, -1)),
    "hinge_embedding_loss": at(F + "hinge_embedding_loss", t(2), ints(1, -1)),
    "margin_ranking_loss": at(F + "margin_ranking_loss", t(2), probs(2), ints(1, -1)),
    "triplet_margin_loss": at(F + "triplet_margin_loss", t(2, 3), probs(2, 3), t(2, 3)),
    "ctc_loss": at(F + "ctc_loss", t(4, 1, 3), lambda lib, d: lib.tensor([[1, 2]]), ints(4), ints(2)),
    "reflect": at(F + "pad", t(1, 2, 4), (1, 1), mode="reflect"),
    "replicate": at(F + "pad", t(1, 2, 4, 4), (1, 1, 0, 1), mode="replicate"),
    "circular": at(F + "pad", t(1, 2, 4), (1, 1), mode="circular"),
    "cholesky": at("linalg.cholesky", square),
    "inv": at("linalg.inv", square),
    "inverse": at("inverse", square),
    "solve": at("linalg.solve", square, t(3, 2)),
    "svdvals": at("linalg.svdvals", square),
    "eigvalsh": at("linalg.eigvalsh", square),
    "matrix_rank": at("linalg.matrix_rank", square),
    # the widest
    "cat": lambda lib, dtype: lib.cat([x(lib, 2, dtype=dtype), x(lib, 2)]),
    "stack": lambda lib, dtype: lib.stack([x(lib, 2, dtype=dtype), x(lib, 2, dtype="bfloat16")]),
    "index_copy": at("index_copy", t(3, 2), 0, ints(0, 1), probs(2, 2)),
    # on no list
    "add": at("add", t(2, 3), t(2, 3)),
    "softmax": at("softmax", t(2, 3), 1),
    "layer_norm": at(F + "layer_norm", t(2, 3), (3,)),
    "sum": at("sum", t(2, 3)),
    "exp": at("exp", t(2, 3)),
    "dot": at("dot", t(3), t(3)),
    "gelu": at(F + "gelu", t(3)),
    "embedding": lambda lib, dtype: lib.nn.functional.embedding(lib.tensor([0, 1]), x(lib, 2, 2, dtype=dtype)),
    "batch_norm": at(F + "batch_norm", t(2, 3), None, None, training=True),
    "avg_pool2d": at(F + "avg_pool2d", t(1, 1, 4, 4), 2),
    "attention": lambda lib, dtype: lib.nn.functional.multi_head_attention_forward(
        *(x(lib, 2, 1, 4),) * 3, 4, 2, x(lib, 12, 4), x(lib, 12), None, None, False, 0.0, x(lib, 4, 4), x(lib, 4)
    )[0],
}
# The tensors of this call have one dtype.
ONLY_FLOAT32 = {"attention"}


@pytest.mark.parametrize("mode", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_dtypes_are_those_of_torch(real_torch: ModuleType, name: str, mode: str) -> None:
    for dtype in ("float32",) if name in ONLY_FLOAT32 else ("float32", mode, "float64"):
        outcomes = []
        for lib in (reftorch, real_torch):
            with warnings.catch_warnings(), lib.autocast("cpu", dtype=getattr(lib, mode)):
                warnings.simplefilter("ignore")
                try:
                    result = CALLS[name](lib, dtype)
                except RuntimeError:
                    outcomes.append(("RuntimeError", []))
                    continue
            outcomes.append((str(result.dtype), result.detach().double().flatten().tolist()))
        assert outcomes[0][0] == outcomes[1][0], dtype
        assert outcomes[0][1] == pytest.approx(outcomes[1][1], rel=3e-2, abs=3e-2), dtype


@pytest.mark.parametrize(
    ("key", "first", "end"),
    [
        ("CPU", "kLowerPrecision[]", "// --- the lists of CUDA"),
        ("CUDA", "kCudaLowerPrecision[]", "} // namespace"),
    ],
)
def test_the_lists_are_those_of_torch(real_torch: ModuleType, key: str, first: str, end: str) -> None:
    """Each op that both libraries have is cast in both or in neither."""
    listed = {
        name.removeprefix("aten::")
        for name in real_torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::") and real_torch._C._dispatch_has_kernel_for_dispatch_key(name, f"Autocast{key}")
    }
    ours = {schema["name"].removeprefix("aten::") for schema in _C._get_all_op_schemas()}
    text = (reftorch_root() / "cpp/ATen/autocast_lists.h").read_text()
    lists = text[text.index(first) : text.index(end)]
    named = {part for i, part in enumerate(lists.split('"')) if i % 2}
    assert named == listed & ours


def reftorch_root() -> Any:
    from pathlib import Path

    return Path(__file__).resolve().parent.parent.parent


def trained(lib: Any, mode: str) -> list[Any]:
    lib.manual_seed(3)
    model = lib.nn.Sequential(
        lib.nn.Conv2d(1, 3, 3), lib.nn.BatchNorm2d(3), lib.nn.ReLU(), lib.nn.Flatten(), lib.nn.Linear(12, 4)
    )
    found: list[Any] = []
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        with lib.autocast("cpu", dtype=getattr(lib, mode)):
            y = model(x(lib, 2, 1, 4, 4))
            loss = lib.nn.functional.cross_entropy(y, lib.tensor([0, 3]))
        optimizer.zero_grad()
        loss.backward()
        found += [str(y.dtype), str(loss.dtype), *(str(p.grad.dtype) for p in model.parameters())]
        optimizer.step()
    return [found, [v for p in model.parameters() for v in p.flatten().tolist()]]


@pytest.mark.parametrize("mode", DTYPES)
def test_training_is_that_of_torch(real_torch: ModuleType, mode: str) -> None:
    ours, theirs = trained(reftorch, mode), trained(real_torch, mode)
    assert ours[0] == theirs[0]
    assert ours[1] == pytest.approx(theirs[1], rel=5e-2, abs=5e-2)


def state(lib: Any) -> list[Any]:
    return [
        lib.is_autocast_enabled("cpu"), str(lib.get_autocast_dtype("cpu")), lib.is_autocast_cache_enabled(),
        lib.is_autocast_enabled(),
    ]  # fmt: skip


def nested(lib: Any) -> list[Any]:
    found = [state(lib)]
    a = x(lib, 2, 2)
    with lib.autocast("cpu", dtype=lib.float16) as outer:
        found += [state(lib), str((a @ a).dtype), type(outer).__name__]
        with lib.autocast("cpu", enabled=False):
            found += [state(lib), str((a @ a).dtype)]
            with lib.amp.autocast("cpu", cache_enabled=False):
                found += [state(lib), str((a @ a).dtype)]
        found += [state(lib), str((a @ a).dtype)]
        try:
            with lib.autocast("cpu", dtype=lib.bfloat16):
                raise KeyError
        except KeyError:
            found.append(state(lib))

    @lib.autocast("cpu")
    def decorated(a: Any) -> Any:
        """doc"""
        return a @ a

    found += [state(lib), str(decorated(a).dtype), decorated.__name__, decorated.__doc__]
    lib.set_autocast_enabled("cpu", True)
    lib.set_autocast_dtype("cpu", lib.float16)
    found += [state(lib), str((a @ a).dtype)]
    lib.set_autocast_enabled("cpu", False)
    lib.set_autocast_dtype("cpu", lib.bfloat16)
    return found


def test_nesting_is_that_of_torch(real_torch: ModuleType) -> None:
    assert nested(reftorch) == nested(real_torch)


def errors(lib: Any) -> list[Any]:
    calls = (
        lambda: lib.autocast(lib.device("cpu")),
        lambda: lib.autocast("cpu")(3),
        lambda: lib.amp.custom_fwd(device_type=1),
        lambda: lib.amp.custom_bwd(device_type=1),
    )
    return [tried(call) for call in calls]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def warned(lib: Any) -> list[Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lib.autocast("cpu", dtype=lib.float64):
            on = lib.is_autocast_enabled("cpu")
        a = x(lib, 2, 2)
        with lib.autocast("cuda"):
            dtype = (a @ a).dtype
    return [on, str(dtype), [(w.category.__name__, str(w.message)) for w in caught]]


def test_the_device_is_named_by_a_string(real_torch: ModuleType) -> None:
    compare(lambda lib: tried(lambda: lib.set_autocast_enabled(1, True)), real_torch)


def test_what_cannot_be_is_disabled_with_a_warning(real_torch: ModuleType) -> None:
    if real_torch.cuda.is_available():
        pytest.fail("the comparison is for machines without CUDA")
    assert warned(reftorch) == warned(real_torch)


def test_a_device_without_autocast_is_refused(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError):  # torch: unsupported scalarType; here the message names the device
            lib.autocast("meta")
        assert lib.amp.is_autocast_available("cpu") and not lib.amp.is_autocast_available("meta")


def cached(lib: Any) -> list[Any]:
    """The casts that the graph of two uses of a weight has, with and without the cache."""
    counts = []
    for cache in (True, False):
        w, a = x(lib, 2, 2).requires_grad_(), x(lib, 2, 2)
        with lib.autocast("cpu", cache_enabled=cache):
            y = lib.mm(lib.mm(a, w), w)
        casts, todo = set(), [y.grad_fn]
        while todo:
            node = todo.pop()
            if node.name() == "ToCopyBackward0":
                casts.add(node)
            todo += [next_ for next_, _ in node.next_functions if next_ is not None]
        y.sum().backward()
        counts.append((len(casts), str(w.grad.dtype), w.grad.flatten().tolist()))
    with lib.autocast("cpu"):
        w = x(lib, 2, 2).requires_grad_()
        before = lib.mm(w, w)
        with lib.no_grad():
            w.mul_(2)
        stale = lib.mm(w, w)
        lib.clear_autocast_cache()
        fresh = lib.mm(w, w)
    return [counts, bool((before == stale).all()), bool((stale == fresh).all())]


def test_a_weight_is_cast_once(real_torch: ModuleType) -> None:
    ours, theirs = cached(reftorch), cached(real_torch)
    assert [c[:2] for c in ours[0]] == [c[:2] for c in theirs[0]] == [(1, "torch.float32"), (2, "torch.float32")]
    assert ours[0][0][2] == pytest.approx(theirs[0][0][2], rel=2e-2)
    assert ours[1:] == theirs[1:] == [True, False]


def functions(lib: Any) -> list[Any]:
    seen: list[Any] = []

    class Plain(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            seen.append((lib.is_autocast_enabled("cpu"), str(a.dtype)))
            return a @ b

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append((lib.is_autocast_enabled("cpu"), str(grad.dtype)))
            return grad @ b.T, a.T @ grad

    class Cast(Plain):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            seen.append((lib.is_autocast_enabled("cpu"), str(a.dtype)))
            return a @ b

    for function in (Plain, Cast):
        for enabled in (True, False):
            a, b = x(lib, 2, 2).requires_grad_(), x(lib, 2, 2).requires_grad_()
            with lib.autocast("cpu", enabled=enabled):
                y = function.apply(a.to(lib.bfloat16) if enabled else a, b)
            y.sum().backward()
            seen += [str(y.dtype), str(a.grad.dtype), str(b.grad.dtype), lib.is_autocast_enabled("cpu")]
    return seen


def test_functions_are_those_of_torch(real_torch: ModuleType) -> None:
    assert functions(reftorch) == asked(real_torch, functions)


def test_the_state_belongs_to_the_thread() -> None:
    seen = []
    with reftorch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(reftorch.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_profiler_and_observers_see_the_casts() -> None:
    a = reftorch.ones(2, 2)
    with reftorch.autocast("cpu"), reftorch.profiler.profile() as profile:
        a @ a
    names = [event.name for event in profile.events()]
    assert "aten::matmul" in names and "aten::_to_copy" in names
    with reftorch.profiler.profile() as profile:
        with reftorch.autocast("cpu"):
            a @ a
        reftorch.exp(a)  # the profiler still runs
    names = [event.name for event in profile.events()]
    assert "aten::exp" in names and "aten::_to_copy" in names
    with reftorch.autocast("cpu"):
        with reftorch.profiler.profile():
            pass
        assert (a @ a).dtype == reftorch.bfloat16  # and autocast outlives the profiler
    assert (a @ a).dtype == reftorch.float32


def test_nothing_is_measured_for_another_thread() -> None:
    a, go, done = reftorch.ones(2, 2), threading.Event(), threading.Event()

    def other() -> None:
        go.wait()
        with reftorch.autocast("cpu"):
            reftorch.tan(a)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with reftorch.profiler.profile() as profile:
        go.set()
        done.wait()
    thread.join()
    assert "aten::tan" not in [event.name for event in profile.events()]


def test_modes_see_the_cast_arguments() -> None:
    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append((str(func), [str(a.dtype) for a in args if isinstance(a, reftorch.Tensor)]))
            return func(*args, **(kwargs or {}))

    calls: list[Any] = []
    a = reftorch.ones(2, 2)
    with reftorch.autocast("cpu"), Log():
        reftorch.mm(a, a)
    assert calls[-1] == ("aten.mm.default", ["torch.bfloat16", "torch.bfloat16"])


def transforms(lib: Any) -> list[Any]:
    a, w = x(lib, 3, 2), x(lib, 2, 2)
    found = []
    with lib.autocast("cpu"):
        grad = lib.func.grad(lambda w: lib.mm(a, w).float().sum())(w)
        rows = lib.func.vmap(lambda row: lib.matmul(row, w))(a)
        both = lib.func.vmap(lib.func.grad(lambda w, row: lib.matmul(row, w).float().sum()), (None, 0))(w, a)
    for t in (grad, rows, both):
        found += [str(t.dtype), t.double().flatten().tolist()]
    return found


def test_transforms_are_those_of_torch(real_torch: ModuleType) -> None:
    ours, theirs = transforms(reftorch), transforms(real_torch)
    assert ours[::2] == theirs[::2]
    for mine, other in zip(ours[1::2], theirs[1::2], strict=True):
        assert mine == pytest.approx(other, rel=2e-2, abs=2e-2)
