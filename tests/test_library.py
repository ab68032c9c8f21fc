"""torch.library: ops and kernels from Python, and what takes them back.

Mirrors: test/test_custom_ops.py, test/test_python_dispatch.py
Leaves out: what PyTorch tests of compilers and of FakeTensor.

A program is a function of the library; it runs with ours and with torch, and both must return the same. The file is
many lines long because it holds one program after the other.
"""

import gc
import threading
import warnings
from collections.abc import Callable
from typing import Any, Sequence  # noqa: UP035

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


def attempt(function: Callable[[], Any]) -> Any:
    """What a call returns, or the type and text of what it raises."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error)


def define_numpy_sin(t: Any, name: str = "numpy_sin") -> Any:
    def numpy_sin(x):
        return t.from_numpy(np.sin(x.detach().numpy()))

    numpy_sin.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    op = t.library.custom_op(f"testlib::{name}", numpy_sin, mutates_args=())
    return op


@program
def numpy_sin_with_a_gradient(t):
    op = define_numpy_sin(t)

    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()

    op.register_autograd(backward, setup_context=setup_context)
    x = t.tensor([0.0, 1.0, 2.0], requires_grad=True)
    y = op(x)
    (grad,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = t.autograd.grad(grad.sum(), x)
    without = op(x.detach())
    return y.tolist(), grad.tolist(), second.tolist(), without.requires_grad, type(y.grad_fn).__name__, repr(op)


@program
def no_gradient_registered(t):
    op = define_numpy_sin(t)
    y = op(t.ones(2, requires_grad=True))
    return y.requires_grad, attempt(lambda: y.sum().backward())


@program
def schemas_of_annotations(t):
    def f(
        x: t.Tensor,
        y: t.Tensor | None,
        zs: Sequence[t.Tensor],
        n: int,
        ns: list[int],
        s: str = "a",
        f: float = 1.5,
        b: bool = True,
        d: int | None = None,
        *,
        dtype: t.dtype | None = None,
        w: float = 2.0,
    ) -> tuple[t.Tensor, t.Tensor]:
        return x, x

    def g(x: t.Tensor, y: list[t.Tensor]) -> None:
        pass

    def h(x: t.Tensor) -> list[t.Tensor]:
        return [x]

    infer = t.library.infer_schema
    return (
        infer(f, mutates_args=()),
        infer(g, op_name="g", mutates_args=["y", "x"]),
        infer(g, mutates_args="unknown"),
        infer(h, mutates_args={}),
        attempt(lambda: infer(g, mutates_args="known")),
    )


@program
def schemas_that_cannot_be_inferred(t):
    def no_type(x) -> t.Tensor:
        return x

    def no_return(x: t.Tensor):
        return x

    def variadic(*x: t.Tensor) -> t.Tensor:
        return x

    def mutated_int(x: t.Tensor, n: int) -> t.Tensor:
        return x

    infer = t.library.infer_schema

    def told(function, **kwargs):
        kind, text = attempt(lambda: infer(function, **kwargs))
        return kind, text.partition("Got func")[0]

    return (
        told(no_type, mutates_args=()),
        told(no_return, mutates_args=()),
        told(variadic, mutates_args=()),
        told(mutated_int, mutates_args=("n",)),
        told(mutated_int, mutates_args=("q",)),
    )


@program
def printed_schemas_of_ops(t):
    lib = t.library.Library("testlib", "FRAGMENT")
    texts = [
        "s1(Tensor x, Tensor? y, Tensor[] z, Tensor?[] w, int n=1, float f=2.0, bool b=False, str s='a') -> Tensor",
        "s2(Tensor(a!) x, SymInt n, SymInt[] ns, *, ScalarType? dtype=None, Device? device=None) -> ()",
        "s3.over(Tensor(a) x, int[2] k=[1, 2], Scalar alpha=1) -> (Tensor(a), Tensor[])",
        "s4(Tensor(a0!) x, Tensor(a1!)[] y, Scalar[] c, float[]? f=None) -> Tensor out",
    ]
    printed = [lib.define(text) for text in texts]
    found = [
        str(getattr(getattr(t.ops.testlib, f"s{i}"), "over" if i == 3 else "default")._schema) for i in range(1, 5)
    ]
    lib._destroy()
    return printed, found, hasattr(t.ops.testlib, "s1")


@program
def a_kernel_that_takes_and_gives_numbers(t):
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("scaled(Tensor x, Scalar[] factors) -> Scalar[]")
    lib.impl("scaled", lambda x, factors: [x.item() * factor for factor in factors], "CompositeImplicitAutograd")
    found = t.ops.testlib.scaled(t.tensor(3), [2, 0.5, True])
    lib._destroy()
    return found


@program
def a_kernel_over_one_of_atens(t):
    x = t.tensor([1.0, 2.0])
    lib = t.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lib.impl("neg", lambda x: x * 10, "CPU")
    inside = t.neg(x).tolist(), (-x).tolist()
    x.requires_grad_()
    y = t.neg(x)
    y.sum().backward()
    refused = attempt(lambda: lib.impl("neg", lambda x: x, "CPU", allow_override=False))
    lib._destroy()
    return inside, y.tolist(), x.grad.tolist(), t.neg(x).tolist(), refused


@program
def two_libraries_on_one_row(t):
    outer = t.library.Library("aten", "IMPL")
    inner = t.library.Library("aten", "IMPL")
    x = t.ones(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outer.impl("cosh", lambda x: x * 2, "CPU")
        first = t.cosh(x).item()
        inner.impl("cosh", lambda x: x * 3, "CPU")
    second = t.cosh(x).item()
    inner._destroy()
    third = t.cosh(x).item()
    outer._destroy()
    return first, second, third, round(t.cosh(x).item(), 4)


@program
def keysets_and_redispatch(t):
    calls = []
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("redo(Tensor x, int n=2) -> Tensor")

    def autograd(keyset, x, n=2):
        calls.append(("autograd", n, keyset.has(t._C.DispatchKey.CPU)))
        with t._C._AutoDispatchBelowAutograd():
            return t.ops.testlib.redo.default.redispatch(keyset & t._C._after_autograd_keyset, x, n)

    def cpu(x, n=2):
        calls.append(("cpu", n))
        return x * n

    lib.impl("redo", autograd, "Autograd", with_keyset=True)
    lib.impl("redo", cpu, "CPU")
    result = t.ops.testlib.redo(t.ones(2), 3).tolist(), t.ops.testlib.redo(t.ones(2)).tolist()
    lib._destroy()
    return result, calls


@program
def a_composite_is_recorded_by_its_parts(t):
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("comp(Tensor x) -> Tensor")
    lib.impl("comp", lambda x: x.sin() * 2)
    x = t.zeros(1, requires_grad=True)
    y = t.ops.testlib.comp(x)
    y.backward()
    answer = type(y.grad_fn).__name__, x.grad.tolist()
    mapped = t.vmap(t.ops.testlib.comp)(t.zeros(2)).tolist()
    lib._destroy()
    return answer, mapped


@program
def fallthrough(t):
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("through(Tensor x) -> Tensor")
    lib.impl("through", lambda x: x * 2, "CPU")
    lib.impl("through", t.library.fallthrough_kernel, "Autograd")
    y = t.ops.testlib.through(t.ones(1, requires_grad=True).detach())
    lib._destroy()
    return y.tolist(), attempt(t.library.fallthrough_kernel)


@program
def errors_of_libraries(t):
    Library = t.library.Library
    scoped = t.library._scoped_library
    results = [attempt(lambda: Library("x", "NEW")), attempt(lambda: Library("prim", "DEF"))]
    with scoped("testlib2", "DEF") as lib:
        results.append(attempt(lambda: Library("testlib2", "DEF"))[0])
        lib.define("f(Tensor x) -> Tensor")
        results.append(attempt(lambda: lib.define("f(Tensor x) -> Tensor"))[0])
        results.append(attempt(lambda: lib.define("other::g(Tensor x) -> Tensor"))[0])
        results.append(attempt(lambda: lib.impl("f", 3, "CPU")))
        results.append(attempt(lambda: lib.impl("f", lambda x: x, "NoKey"))[0])
        results.append(attempt(lambda: lib.impl(3, lambda x: x, "CPU")))
        results.append(attempt(lambda: lib.define("h(Tensor x) -> Tensor", "PURE")))
        results.append(attempt(lambda: t.ops.testlib2.f(t.ones(1)))[0])
        results.append(repr(lib))
    results.append(attempt(lambda: lib.define("f(Tensor x) -> Tensor")))
    with scoped("testlib2", "IMPL") as lib:
        results.append(attempt(lambda: lib.define("f(Tensor x) -> Tensor"))[0])
        results.append(attempt(lambda: lib.fallback(lambda: None, "CPU")))
    results.append(attempt(lambda: t.library.define("nothing", "(Tensor x) -> Tensor")))
    results.append(attempt(lambda: t.library.define("testlib2::f", "f(Tensor x) -> Tensor")))
    return results


@program
def define_and_impl_by_name(t):
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        t.library.define("testlib::named", "(Tensor x, float f) -> (Tensor, Tensor)", lib=lib)

        @t.library.impl("testlib::named", "cpu", lib=lib)
        def named(x, f):
            return x * f, x + f

        a, b = t.ops.testlib.named(t.ones(2), 3)
        t.library.register_autograd("testlib::named", lambda ctx, ga, gb: (3 * ga + gb, None), lib=lib)
        x = t.ones(1, requires_grad=True)
        c, d = t.ops.testlib.named(x, 3.0)
        (c + 2 * d).backward()
        return a.tolist(), b.tolist(), x.grad.tolist()


@program
def changes_in_place(t):
    def fill(x, value):
        x.fill_(value)

    fill.__annotations__ = {"x": t.Tensor, "value": float, "return": None}
    op = t.library.custom_op("testlib::fill", fill, mutates_args=("x",))
    x = t.zeros(2)
    before = x._version
    result = op(x, 3.0)
    bumped = x._version > before
    refused = attempt(lambda: op.register_autograd(lambda ctx, g: g))[0]
    return result, x.tolist(), bumped, str(op._opoverload._schema), refused


@program
def lists_of_tensors(t):
    def add_all(xs: list[t.Tensor], scale: float) -> list[t.Tensor]:
        return [x * scale for x in xs]

    op = t.library.custom_op("testlib::add_all", add_all, mutates_args=())

    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]
        ctx.number = len(inputs[0])

    def backward(ctx, grads):
        needed.append(ctx.needs_input_grad)
        return [g * ctx.scale for g in grads], None

    needed: list[Any] = []
    op.register_autograd(backward, setup_context=setup_context)
    x, y = t.ones(1, requires_grad=True), t.ones(1)
    a, b = op([x, y], 2.0)
    (a + b).sum().backward()
    return x.grad.tolist(), y.grad, a.requires_grad, [list(n) if isinstance(n, (list, tuple)) else n for n in needed[0]]


@program
def keyword_only_arguments(t):
    def mul(x: t.Tensor, *, val: float = 2.0) -> t.Tensor:
        return x * val

    op = t.library.custom_op("testlib::kwmul", mul, mutates_args=())

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.val = keyword_only_inputs["val"]

    op.register_autograd(lambda ctx, grad: grad * ctx.val, setup_context=setup_context)
    x = t.ones(1, requires_grad=True)
    op(x).backward()
    first = x.grad.tolist()
    op(x, val=5.0).backward()

    def refused(*, x: t.Tensor) -> t.Tensor:
        return x

    return first, x.grad.tolist(), attempt(lambda: t.library.custom_op("testlib::kwt", refused, mutates_args=()))


@program
def results_must_not_alias(t):
    def same(x: t.Tensor) -> t.Tensor:
        return x

    def view(x: t.Tensor) -> t.Tensor:
        return x.view(-1)

    def twins(x: t.Tensor) -> tuple[t.Tensor, t.Tensor]:
        y = x.clone()
        return y, y

    return [
        attempt(lambda f=f: t.library.custom_op(f"testlib::{f.__name__}", f, mutates_args=())(t.ones(2)))[1].partition(
            "):"
        )[2]
        for f in (same, view, twins)
    ]


@program
def kernels_of_devices_and_turned_off(t):
    def one(x: t.Tensor) -> t.Tensor:
        return t.ones_like(x)

    op = t.library.custom_op("testlib::one", one, mutates_args=())
    values = [op(t.zeros(1)).item()]
    op.register_kernel("cpu")(lambda x: t.ones_like(x) * 2)
    values.append(op(t.zeros(1)).item())
    with op.set_kernel_enabled("cpu", enabled=False):
        values.append(op(t.zeros(1)).item())
    values.append(op(t.zeros(1)).item())
    t.library.register_kernel("testlib::one", "cpu", lambda x: t.ones_like(x) * 3)
    values.append(op(t.zeros(1)).item())
    return values


@program
def a_crop_on_meta(t):
    def crop(pic: t.Tensor, rows: int) -> t.Tensor:
        return t.from_numpy(pic.numpy()[:rows].copy())

    op = t.library.custom_op("testlib::crop", crop, mutates_args=())
    pic = t.arange(6.0).view(3, 2)
    missing = attempt(lambda: op(pic.to("meta"), 2))

    @op.register_fake
    def _(pic, rows):
        return pic.new_empty(rows, *pic.shape[1:])

    fake = op(pic.to("meta"), 2)
    return op(pic, 2).tolist(), tuple(fake.shape), str(fake.device), str(fake.dtype), missing[0]


@program
def a_rule_for_vmap(t):
    op = define_numpy_sin(t, "vmapped")
    seen = []

    @op.register_vmap
    def rule(info, in_dims, x):
        seen.append((info.batch_size, info.randomness, in_dims))
        return op(x), in_dims[0]

    x = t.arange(6.0).view(2, 3)
    inner = t.vmap(op)(x).tolist()
    columns = t.vmap(op, in_dims=1, out_dims=1)(x).tolist()
    nested = t.vmap(t.vmap(op))(x).tolist()
    return inner, columns, nested, seen


@program
def ops_by_name(t):
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("over(Tensor x) -> Tensor")
    packet = t.ops.testlib.over
    first = list(packet.overloads())
    lib.define("over.scaled(Tensor x, float f) -> Tensor")
    again = t.ops.testlib.over is packet, sorted(packet.overloads())
    op = packet.scaled
    texts = str(packet), repr(packet), str(op), repr(op), op.name(), op.namespace, op._schema.overload_name
    kernels = op.has_kernel_for_dispatch_key("CPU"), packet.default is t.ops.testlib.over.default
    lib._destroy()
    gone = attempt(lambda: t.ops.testlib.over)
    return first, again, texts, kernels, gone


@program
def a_new_op_of_an_old_name(t):
    values = []
    for factor in (2, 3):

        def scaled(x: t.Tensor) -> t.Tensor:
            return x * factor  # noqa: B023

        values.append(t.library.custom_op("testlib::again", scaled, mutates_args=())(t.ones(1)).item())
    return values


@program
def opcheck_of_good_and_bad_ops(t):
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")

    def good(x: t.Tensor) -> t.Tensor:
        return x * 2

    def bad(x: t.Tensor) -> t.Tensor:
        x.add_(1)
        return x.clone()

    op = t.library.custom_op("testlib::good", good, mutates_args=())
    op.register_fake(lambda x: t.empty_like(x))
    op.register_autograd(lambda ctx, g: g * 2)
    results = [t.library.opcheck(op, (t.ones(2, requires_grad=True),), test_utils=tests)]
    op.register_fake(lambda x: x.new_empty(5))
    told = t.library.opcheck(op, (t.ones(2, requires_grad=True),), test_utils=tests, raise_exception=False)
    results.append({name: value == "SUCCESS" for name, value in told.items()})
    wrong = t.library.custom_op("testlib::bad", bad, mutates_args=())
    told = t.library.opcheck(wrong, (t.ones(2),), test_utils="test_schema", raise_exception=False)
    results.append(str(told["test_schema"]))
    results.append(attempt(lambda: t.library.opcheck(wrong, (t.ones(2),), test_utils="test_schema"))[0])
    results.append(attempt(lambda: t.library.opcheck(3, ())))
    return results


@program
def a_gradient_recorded_below_autograd_is_found(t):
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("below(Tensor x) -> Tensor")

        class Below(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        lib.impl("below", Below.apply, "CPU")
        told = t.library.opcheck(
            t.ops.testlib.below.default,
            (t.ones(1, requires_grad=True),),
            test_utils="test_autograd_registration",
            raise_exception=False,
        )
        return told["test_autograd_registration"] == "SUCCESS"


@program
def a_kernel_that_autograd_records_warns(t):
    """The library has no kernel for Autograd, so the ops of its kernel are recorded, and a gradient warns."""
    lib = t.library.Library("testlib", "FRAGMENT")
    lib.define("square(Tensor x) -> Tensor")
    lib.define("cut(Tensor x) -> Tensor")
    lib.define("make(Tensor x) -> Tensor")
    lib.impl("square", lambda x: x * x, "CPU")
    lib.impl("cut", lambda x: x.detach() * 2, "CPU")
    lib.impl("make", lambda x: t.ones(1, requires_grad=True), "CPU")
    results = []
    for op in (t.ops.testlib.square, t.ops.testlib.cut, t.ops.testlib.make):
        x = t.tensor([3.0], requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = op(x)
            before = len(caught)
            y.sum().backward()
        texts = [str(each.message).partition(" (Triggered")[0] for each in caught]
        results.append((before, y.requires_grad, texts, None if x.grad is None else x.grad.tolist()))
    lib._destroy()
    return results


@program
def none_and_numbers(t):
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define(
            "opt(Tensor x, Tensor? y=None, float? f=None, int[]? k=None, str s='s') -> (Tensor, int, float, bool)"
        )
        seen = []

        def kernel(x, *rest):
            seen.append(rest)
            return x + 1, 3, 2.5, True

        lib.impl("opt", kernel, "CPU")
        op = t.ops.testlib.opt
        results = [op(t.ones(1)), op(t.ones(1), None, 2.0), op(t.ones(1), k=[1, 2]), op(t.ones(1), s="q")]
        return [(r[0].tolist(), *r[1:]) for r in results], seen


@program
def kernels_that_return_the_wrong_thing(t):
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("none(Tensor x) -> ()")
        lib.define("tensor(Tensor x) -> Tensor")
        lib.impl("none", lambda x: x, "CPU")
        lib.impl("tensor", lambda x: 3, "CPU")
        none, tensor = t.ops.testlib.none, t.ops.testlib.tensor
        return attempt(lambda: none(t.ones(1))), attempt(lambda: tensor(t.ones(1)))


@program
def an_error_of_a_kernel_comes_through(t):
    with t.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("raises(Tensor x) -> Tensor")

        def kernel(x):
            raise KeyError("mine")

        lib.impl("raises", kernel, "CPU")
        return attempt(lambda: t.ops.testlib.raises(t.ones(1)))


def rounded(value: Any) -> Any:
    """The value with its floats rounded: the two libraries' sines differ in the last bit."""
    if isinstance(value, (list, tuple)):
        return type(value)(rounded(item) for item in value)
    return round(value, 5) if isinstance(value, float) else value


def clean(t: Any) -> None:
    """Take back the ops of a program, so that another may use their names."""
    if t is reftorch:
        from reftorch._library import custom_ops
    else:
        from torch._library import custom_ops
    for name in [name for name in custom_ops.OPDEF_TO_LIB if name.startswith("testlib")]:
        custom_ops.OPDEF_TO_LIB.pop(name)._destroy()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_programs_return_what_torch_returns(program: Callable[[Any], Any], real_torch: Any, noted: Any) -> None:
    try:
        ours = program(reftorch)
    finally:
        clean(reftorch)
    try:
        theirs = program(real_torch)
    finally:
        clean(real_torch)
    assert rounded(ours) == noted(rounded(theirs))


def test_kernels_are_freed_with_their_library() -> None:
    class Kernel:
        def __call__(self, x: Any) -> Any:
            return x * 2

        def __del__(self) -> None:
            freed.append(True)

    freed: list[bool] = []
    lib = reftorch.library.Library("testlib", "FRAGMENT")
    lib.define("freed(Tensor x) -> Tensor")
    lib.impl("freed", Kernel(), "CPU")
    assert reftorch.ops.testlib.freed(reftorch.ones(1)).item() == 2
    del lib
    gc.collect()
    assert freed == [True]
    assert not hasattr(reftorch.ops.testlib, "freed")


def test_a_kernel_may_take_itself_back() -> None:
    lib = reftorch.library.Library("testlib", "FRAGMENT")
    lib.define("once(Tensor x) -> Tensor")

    def once(x: Any) -> Any:
        lib._destroy()
        return x * 2

    lib.impl("once", once, "CPU")
    assert reftorch.ops.testlib.once(reftorch.ones(1)).item() == 2


def test_ops_of_libraries_are_not_among_atens() -> None:
    with reftorch.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("mine(Tensor x) -> Tensor")
        names = {schema["name"] for schema in reftorch._C._get_all_op_schemas()}
        assert all(name.startswith("aten::") for name in names)
        assert "testlib::mine" in reftorch._C._dispatch_get_all_op_names()
    assert "testlib::mine" not in reftorch._C._dispatch_get_all_op_names()


def test_where_python_kernels_are() -> None:
    with reftorch.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("mine(Tensor x) -> Tensor")

        def kernel(x: Any) -> Any:
            return x

        lib.impl("mine", kernel, "CPU")
        [found] = reftorch._C._dispatch_registrations("testlib::mine")
        assert found["key"] == "CPU" and found["function"].endswith("kernel")
        assert (found["file"], found["line"]) == (__file__, kernel.__code__.co_firstlineno)
        table = reftorch._C._dispatch_dump_table("testlib::mine")
        assert f"CPU: registered at {__file__}:{kernel.__code__.co_firstlineno} [kernel]" in table


def test_a_fallback_for_all_ops() -> None:
    seen = []

    def fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(str(op))
        with reftorch._C._DisableTorchDispatch():
            return op(*args, **kwargs)

    lib = reftorch.library.Library("_", "IMPL")
    lib.fallback(fallback, "Python")
    x = reftorch.ones(2)
    with reftorch._C._IncludeDispatchKeyGuard(reftorch._C.DispatchKey.Python):
        y = x + 1
    lib._destroy()
    assert y.tolist() == [2.0, 2.0] and seen == ["aten.add.Tensor"]


def test_get_ctx_outside_of_a_fake_kernel() -> None:
    with pytest.raises(RuntimeError, match="inside of a fake impl"):
        reftorch.library.get_ctx()


def test_a_registration_reaches_ops_that_ran_before() -> None:
    """vmap asks for a rule once for each op; a rule that comes later counts."""
    x = reftorch.ones(2, 3)
    with reftorch.library._scoped_library("testlib", "FRAGMENT") as lib:
        lib.define("late(Tensor x) -> Tensor")
        lib.impl("late", lambda x: x * 2, "CPU")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert reftorch.vmap(reftorch.ops.testlib.late)(x).tolist() == (x * 2).tolist()
        reftorch.library.register_vmap("testlib::late", lambda info, dims, x: (x * 5, dims[0]), lib=lib)
        assert reftorch.vmap(reftorch.ops.testlib.late)(x).tolist() == (x * 5).tolist()


def test_transforms_of_an_op_with_a_gradient() -> None:
    """torch refuses such an op under grad; here the op passes through grad like any other."""
    op = define_numpy_sin(reftorch, "transformed")
    op.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
    x = reftorch.tensor([0.0, 1.0])
    grad = reftorch.func.grad(lambda x: op(x).sum())
    assert reftorch.allclose(grad(x), x.cos())
    assert reftorch.allclose(reftorch.func.grad(lambda x: grad(x).sum())(x), -x.sin())
    assert reftorch.allclose(reftorch.vmap(reftorch.func.grad(op))(x), x.cos())
    clean(reftorch)


def test_the_ops_of_torch_ops_give_lists(real_torch_or_none: Any) -> None:
    def program(t: Any) -> None:
        assert type(t.ops.aten.split.Tensor(t.ones(4), 2)) is list
        assert type(t.ops.aten.unbind.int(t.ones(4))) is list
        assert type(t.split(t.ones(4), 2)) is tuple

    program(reftorch)
    if real_torch_or_none is not None:
        asked(real_torch_or_none, program)


def test_kernels_are_registered_while_other_threads_call_ops() -> None:
    """The threads call an op whose rows change, an op that is defined and removed, and ops next to both."""
    stop, errors = threading.Event(), []
    x = reftorch.ones(20000)  # large enough for the ops to run without the GIL
    expected = reftorch.exp(x)

    def call() -> None:
        while not stop.is_set():
            try:
                assert reftorch.equal(reftorch.exp(x), expected)
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(150):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the kernel of exp is replaced
            replaced = reftorch.library.Library("aten", "IMPL")
            replaced.impl("exp", lambda t: expected.clone(), "CPU")
        defined = reftorch.library.Library(f"of_threads_{i % 20}", "DEF")
        defined.define("twice(Tensor x) -> Tensor")
        defined.impl("twice", lambda t: t * 2, "CompositeImplicitAutograd")
        defined._destroy()
        replaced._destroy()
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert reftorch.equal(reftorch.exp(x), expected)
