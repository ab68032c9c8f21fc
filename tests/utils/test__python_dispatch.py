"""Modes and tensor classes below autograd.

Mirrors: test/test_python_dispatch.py
Leaves out: what PyTorch tests of infrastructure modes and of metadata that a class answers (sizes, device).

A program is a function of the library; it runs with ours and with torch, and both must return the same. The file is
many lines long because it holds one program after the other.
"""

import importlib
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db import OPS

PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


def attempt(function: Callable[[], Any]) -> Any:
    """What a call returns, or the type and text of what it raises."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error).partition("\n\nFor more information")[0].rstrip()


def modules(t: Any) -> tuple[Any, Any]:
    return (
        importlib.import_module(f"{t.__name__}.utils._python_dispatch"),
        importlib.import_module(f"{t.__name__}.utils._pytree"),
    )


def logging_mode(t: Any, log: list[str], name: str = "", values: bool = False) -> Any:
    """The LoggingMode of PyTorch's tests, with a list for a logger."""
    dispatch, _ = modules(t)

    class LoggingMode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(f"{name}{func}" + (f" {args} {kwargs}" if values else ""))
            return func(*args, **(kwargs or {}))

    return LoggingMode()


def logging_tensor(t: Any, log: list[str]) -> Any:
    """The LoggingTensor of PyTorch's tests: a wrapper that computes with what it wraps."""
    _, pytree = modules(t)

    class LoggingTensor(t.Tensor):
        @staticmethod
        def __new__(cls, elem, *args, **kwargs):
            r = t.Tensor._make_wrapper_subclass(
                cls,
                elem.size(),
                strides=elem.stride(),
                storage_offset=elem.storage_offset(),
                dtype=elem.dtype,
                layout=elem.layout,
                device=elem.device,
                requires_grad=kwargs.get("requires_grad", False),
            )
            r.elem = elem.detach() if r.requires_grad else elem
            return r

        __torch_function__ = t._C._disabled_torch_function_impl

        def __repr__(self):
            return f"LoggingTensor({self.elem})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            def unwrap(e):
                return e.elem if isinstance(e, cls) else e

            def wrap(e):
                return cls(e) if isinstance(e, t.Tensor) else e

            out = pytree.tree_map(wrap, func(*pytree.tree_map(unwrap, args), **pytree.tree_map(unwrap, kwargs or {})))
            log.append(str(func))
            return out

    return LoggingTensor


@program
def a_mode_sees_ops(t):
    log: list[str] = []
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    with logging_mode(t, log, values=True):
        z = x.add(1, alpha=2)
        y.sum([0], keepdim=True)
        y.transpose(0, 1)
        y.add_(1)
        y.view([4])
    return log, z.requires_grad, type(z.grad_fn).__name__, z.tolist()


@program
def a_mode_sees_factories(t):
    log: list[str] = []
    with logging_mode(t, log):
        t.ones(2)
        t.zeros(2, dtype=t.int64)
    return [entry.partition(" ")[0] for entry in log]


@program
def a_mode_sees_numbers_that_are_read(t):
    log: list[str] = []
    x = t.tensor([2.5], requires_grad=True)
    n = t.tensor(3)
    with logging_mode(t, log, values=False):
        read = [x.item(), float(x.detach()), int(n), bool(n), n.item(), [1, 2, 3, 4][n]]
    return log, read, t.ops.aten._local_scalar_dense(x)


@program
def a_mode_answers_for_a_number(t):
    dispatch, _ = modules(t)

    class Answer(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 7.5 if "_local_scalar_dense" in str(func) else func(*args, **(kwargs or {}))

    x = t.ones(1)
    with Answer():
        return x.item(), float(x), x.tolist()


@program
def a_number_that_cannot_be_read(t):
    aten = t.ops.aten
    return [
        attempt(lambda: t.ones(2).item()),
        attempt(lambda: t.ones(1, device="meta").item()),
        attempt(lambda: aten._local_scalar_dense(t.ones(1, device="meta"))),
        attempt(lambda: aten._local_scalar_dense(t.ones(0))),
        attempt(lambda: aten._local_scalar_dense(t.tensor([1.5, 2.5]))),
    ]


@program
def modes_nest(t):
    log: list[str] = []
    dispatch, _ = modules(t)
    with logging_mode(t, log, "outer ") as outer, logging_mode(t, log, "inner ") as inner:
        t.ones(1) + 1
        stack = dispatch._get_current_dispatch_mode_stack()
        found = stack == [outer, inner], dispatch._get_current_dispatch_mode() is inner
        with dispatch._disable_current_modes():
            t.ones(1) + 2
    return log, found, dispatch._get_current_dispatch_mode()


@program
def a_mode_is_off_while_it_answers(t):
    dispatch, _ = modules(t)
    calls = []

    class Recursive(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(str(func))
            t.ones(1) * 2
            with self:
                t.zeros(1) if len(calls) < 3 else None
            return func(*args, **(kwargs or {}))

    x = t.ones(1)
    with Recursive():
        x * 3
    return calls


@program
def a_mode_answers_itself(t):
    dispatch, _ = modules(t)

    class Zero(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is t.ops.aten.mul.Tensor:
                return t.zeros(2)
            return func(*args, **(kwargs or {}))

    x = t.ones(2, requires_grad=True)
    with Zero():
        y = x * 3
    y.sum().backward()
    return y.tolist(), x.grad.tolist()


@program
def errors_of_modes(t):
    dispatch, _ = modules(t)

    class NotMine(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

        def __repr__(self):
            return "NotMine()"

    class Number(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 3

    class ClassMethod(dispatch.TorchDispatchMode):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return None

    class Raises(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    x = t.ones(2)

    def under(mode, function):
        def call():
            with mode:
                return function()

        return attempt(call)

    return (
        under(NotMine(), lambda: t.exp(x)),
        under(Number(), lambda: t.exp(x)),
        under(ClassMethod(), lambda: t.exp(x)),
        under(Raises(), lambda: t.exp(x)),
        under(dispatch.TorchDispatchMode(), lambda: t.exp(x))[0],
        attempt(lambda: t._C._pop_torch_dispatch_stack(None))[0],
        t._C._len_torch_dispatch_stack(),
        t.exp(t.zeros(1)).tolist(),
    )


@program
def a_mode_over_a_wrapper(t):
    log: list[str] = []
    LoggingTensor = logging_tensor(t, log)
    x = LoggingTensor(t.ones(2))
    with logging_mode(t, log, "mode "):
        x + 1
    return log


@program
def types_and_the_order_of_classes(t):
    asked = []

    def make(name, base, answer):
        class Class(base):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                asked.append((name, [each.__name__ for each in types]))
                return t.zeros(1) if answer else NotImplemented

        Class.__name__ = name
        Class.__torch_function__ = t._C._disabled_torch_function_impl
        return Class

    Base = make("Base", t.Tensor, True)
    Derived = make("Derived", Base, False)
    Other = make("Other", t.Tensor, False)
    x, d, o = (t.ones(1).as_subclass(cls) for cls in (Base, Derived, Other))
    t.add(x, d)
    t.stack([o, x])
    refused = attempt(lambda: t.add(d, o))
    return asked, refused[0], "Multiple dispatch failed" in refused[1]


@program
def subclasses_on_memory(t):
    log = []

    class Sub(t.Tensor):
        __torch_function__ = t._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(str(func))
            with t._C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))

    x = t.Tensor._make_subclass(Sub, t.tensor([1.0, 2.0]))
    y = x + 1
    return log, type(y).__name__, y.tolist(), type(x).__name__


@program
def constructors_refuse(t):
    class Plain(t.Tensor):
        pass

    make = t.Tensor._make_wrapper_subclass
    LoggingTensor = logging_tensor(t, [])
    return (
        attempt(lambda: make(Plain, (2,))),
        attempt(lambda: make(int, (2,))),
        attempt(lambda: make(LoggingTensor, (2,), dtype=3)),
        make(LoggingTensor, (2, 3), strides=(1, 2), storage_offset=1).stride(),
        make(LoggingTensor, (2,), dtype=t.float64, requires_grad=True).requires_grad,
        attempt(lambda: t.Tensor._make_wrapper_subclass(LoggingTensor, (2, 3)).numpy())[0],
    )


@program
def in_place_ops_return_the_tensor(t):
    dispatch, pytree = modules(t)

    class Wrapper(t.Tensor):
        __torch_function__ = t._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, elem):
            r = t.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, strides=elem.stride())
            r.elem = elem
            return r

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            inner_args, inner_kwargs = pytree.tree_map(lambda x: x.elem if isinstance(x, cls) else x, (args, kwargs))
            out = pytree.tree_map(lambda x: cls(x) if isinstance(x, t.Tensor) else x, func(*inner_args, **inner_kwargs))
            return dispatch.return_and_correct_aliasing(func, args, kwargs, out)

    x = Wrapper(t.ones(4))
    y = x.add_(1)
    v = x.view(2, 2)
    before = x._version
    v.mul_(3)
    return y is x, x.elem.tolist(), type(v).__name__, v.elem.tolist(), x._version > before, v._base is x


@program
def modes_belong_to_a_thread(t):
    log: list[str] = []
    x = t.ones(1)

    def work():
        x + 1

    with logging_mode(t, log):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return log


@program
def a_wrapper_computes(t):
    log: list[str] = []
    LoggingTensor = logging_tensor(t, log)
    x = LoggingTensor(t.tensor([3.0]), requires_grad=True)
    y = x * x
    saved = y.grad_fn._saved_self
    (grad,) = t.autograd.grad(y, x, LoggingTensor(t.tensor([1.0])))
    kinds = type(y).__name__, y.requires_grad, y.elem.requires_grad, saved is x
    return log, kinds, type(grad).__name__, grad.elem.tolist()


@program
def a_wrapper_is_a_leaf(t):
    log: list[str] = []
    LoggingTensor = logging_tensor(t, log)
    x = LoggingTensor(t.tensor([1.0, 2.0]), requires_grad=True)
    ((x * 2) + x).sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    return log, type(first).__name__, x.grad.elem.tolist(), x.grad is first


@program
def a_wrapper_as_a_parameter(t):
    log: list[str] = []
    LoggingTensor = logging_tensor(t, log)
    x = t.nn.Parameter(LoggingTensor(t.tensor([3.0, 2.0])))
    (x * x).sum().backward()
    with t.no_grad():
        x.add_(x.grad, alpha=-1)
    return log, type(x).__name__, type(x.grad).__name__, x.grad.elem.tolist(), x.elem.tolist(), x.is_leaf


@program
def a_wrapper_with_a_plain_tensor(t):
    log: list[str] = []
    LoggingTensor = logging_tensor(t, log)
    x = LoggingTensor(t.tensor([3.0, 2.0]), requires_grad=True)
    w = t.tensor([2.0, 4.0], requires_grad=True)
    grads = t.autograd.grad((x * w).sum(), (x, w))
    return log, [(type(grad).__name__, grad.elem.tolist()) for grad in grads]


@program
def second_gradients_of_a_wrapper(t):
    LoggingTensor = logging_tensor(t, [])
    x = LoggingTensor(t.tensor([3.0, 2.0]), requires_grad=True)
    (first,) = t.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (second,) = t.autograd.grad(first.sum(), x)
    return first.elem.tolist(), type(second).__name__, second.elem.tolist()


@program
def hooks_and_functions_of_a_wrapper(t):
    seen, log = [], []
    LoggingTensor = logging_tensor(t, log)

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    x = LoggingTensor(t.tensor([3.0, 2.0]), requires_grad=True)
    y = Square.apply(x)
    y.register_hook(lambda grad: seen.append((type(grad).__name__, grad.elem.tolist())))
    y.retain_grad()
    (y * y).sum().backward()
    return seen, log, y.grad.elem.tolist(), x.grad.elem.tolist()


@program
def a_gradient_keeps_its_attributes(t):
    """The engine alone holds the gradient between two nodes."""
    LoggingTensor = logging_tensor(t, [])
    marks = []

    class Mark(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            result = grad * 1
            result.mark = "mine"
            return result

    class Read(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            marks.append(getattr(grad, "mark", None))
            return grad

    x = LoggingTensor(t.ones(1), requires_grad=True)
    Mark.apply(Read.apply(x)).sum().backward()
    return marks


@program
def a_mode_sees_backward_passes(t):
    def ops_of(function):
        log: list[str] = []
        x = t.tensor([1.0, 2.0], requires_grad=True)
        with logging_mode(t, log):
            function(x)
        return log

    return (
        ops_of(lambda x: (x * x).sum().backward()),
        ops_of(lambda x: x.sum().backward()),  # the gradient has strides of its own
        ops_of(lambda x: ((x * 2).sum().backward(), (x * 3).sum().backward())),
        ops_of(lambda x: t.autograd.grad((x * x).sum(), x)),
        ops_of(lambda x: (x[0] * x[1]).backward()),
        ops_of(lambda x: x.exp().view(2, 1).sum().backward(inputs=[x])),
    )


@program
def a_mode_sees_gradients_with_a_graph(t):
    log: list[str] = []
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with logging_mode(t, log), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backward(create_graph=True) makes a cycle
        (x * x).sum().backward(create_graph=True)
        (x * x).sum().backward(create_graph=True)
    result = log, x.grad.tolist(), x.grad.requires_grad
    x.grad = None
    return result


@program
def functions_come_before_dispatch(t):
    """__torch_function__ sees torch.add, __torch_dispatch__ the overload below autograd."""
    order = []

    class Both(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append("function " + func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            order.append("dispatch " + str(func))
            with t._C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))

    y = t.mul(t.ones(1).as_subclass(Both), 2)
    return [each for each in order if "mul" in each], type(y).__name__


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_programs_return_what_torch_returns(program: Callable[..., Any], real_torch: Any) -> None:
    assert program(reftorch) == asked(real_torch, program)


def test_a_mode_follows_a_backward_pass_to_its_thread() -> None:
    """More nested passes than a thread may hold move to another thread, which has the caller's modes."""
    log: list[str] = []

    class Nested(reftorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, depth: int) -> Any:
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.depth > 0:
                with reftorch.enable_grad():
                    x = reftorch.ones(1, requires_grad=True)
                    Nested.apply(x, ctx.depth - 1).backward()
            else:
                log.append("bottom")
                grad.cosh()
            return grad, None

    x = reftorch.ones(1, requires_grad=True)
    with logging_mode(reftorch, log):
        Nested.apply(x, 70).backward()
    assert log[log.index("bottom") + 1] == "aten.cosh.default"


def test_wrappers_of_several_threads_add_up() -> None:
    x = logging_tensor(reftorch, [])(reftorch.zeros(100_000), requires_grad=True)

    def work() -> None:
        for _ in range(10):
            (x * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.elem.unique().tolist() == [40.0]


def test_no_mode_is_left_after_an_error() -> None:
    log: list[str] = []
    with pytest.raises(ZeroDivisionError), logging_mode(reftorch, log):
        _ = 1 / 0
    reftorch.ones(1)
    assert log == [] and reftorch._C._len_torch_dispatch_stack() == 0


def test_a_wrapper_has_no_memory() -> None:
    x = logging_tensor(reftorch, [])(reftorch.ones(2))
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        x.data_ptr()
    with reftorch._C._DisableTorchDispatch(), pytest.raises(RuntimeError, match="doesn't have storage"):
        x + 1


def test_transform_subclass_makes_a_wrapper_of_the_class() -> None:
    from reftorch.utils._python_dispatch import is_traceable_wrapper_subclass, transform_subclass

    class Two(reftorch.Tensor):
        @staticmethod
        def __new__(cls, a: Any) -> Any:
            r = reftorch.Tensor._make_wrapper_subclass(cls, a.shape)
            r.a = a
            return r

        def __tensor_flatten__(self) -> Any:
            return ["a"], None

        @staticmethod
        def __tensor_unflatten__(inner: Any, context: Any, size: Any, stride: Any) -> Any:
            return Two(inner["a"])

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    x = Two(reftorch.ones(2))
    assert is_traceable_wrapper_subclass(x) and not is_traceable_wrapper_subclass(reftorch.ones(2))
    y = transform_subclass(x, lambda name, inner: inner * 2)
    assert type(y) is Two and y.a.tolist() == [2.0, 2.0]


# ---- None for a tensor


def answering_none(t: Any, after: int) -> Any:
    """A mode that calls the first ops, and answers all others with None."""
    dispatch, _ = modules(t)
    calls = []

    class NoneMode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(func)
            return func(*args, **(kwargs or {})) if len(calls) <= after else None

    return NoneMode()


USES_OF_RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "getitem": lambda t, x: x[0, 1],
    "setitem": lambda t, x: x.__setitem__(0, 5),
    "mask": lambda t, x: x[x > 0],
    "einsum": lambda t, x: t.einsum("ij,jk->ik", x, x),
    "equal": lambda t, x: t.allclose(x, x),
    "quantile": lambda t, x: t.quantile(x, 0.5),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.5),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
    "diff": lambda t, x: t.diff(x),
    "matrix_power": lambda t, x: t.linalg.matrix_power(x, 3),
    "cov": lambda t, x: t.cov(x),
    "split": lambda t, x: t.tensor_split(x, 2),
    "backward": lambda t, x: (x.clone().requires_grad_() * 2).exp().sum().backward(),
    "jvp": lambda t, x: t.func.jvp(t.sin, (x,), (x,)),
}


@pytest.mark.parametrize("use", USES_OF_RESULTS)
def test_none_for_a_tensor_is_an_error_where_the_library_uses_the_tensor(use: str) -> None:
    x = reftorch.ones(3, 3)
    says_so = 0
    for after in range(6):
        try:
            with answering_none(reftorch, after):
                USES_OF_RESULTS[use](reftorch, x)
        except (RuntimeError, TypeError, AttributeError) as error:
            says_so += "but got None (an undefined tensor)" in str(error)
    assert says_so > 0 or use in ("backward", "jvp")


def test_none_for_a_tensor_reaches_a_program_as_none(real_torch: Any) -> None:
    def program(t: Any) -> list:
        x = t.ones(2)
        with answering_none(t, 0):
            return [t.zeros(2), t.exp(x), x + 1, x.t()]

    assert program(reftorch) == asked(real_torch, program) == [None] * 4


@pytest.mark.filterwarnings("ignore")
def test_no_op_crashes_on_none_for_a_tensor() -> None:
    """The whole table of ops, each below a mode that answers None from its first, second, third op on."""
    errors = []
    for row in OPS:
        for sample in list(row.each("float32"))[:1]:
            for after in range(3):
                try:
                    args, kwargs = sample.requiring_grad().build(reftorch)
                    with answering_none(reftorch, after):
                        row.run(reftorch, args, kwargs)
                except Exception as error:
                    errors.append(f"{row.ops}: {error}")
    assert [error for error in errors if "INTERNAL ASSERT" in error] == []
    assert sum("but got None (an undefined tensor)" in error for error in errors) > 200


BAD_GEOMETRIES: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (TypeError, "argument 'strides' must be tuple of ints, not int", {"strides": 5}),
    (TypeError, "argument 'strides' must be tuple of ints, not str", {"strides": "abc"}),
    (TypeError, "argument 'size' must be tuple of ints, not int", {"size": 5}),
    (RuntimeError, "stride|size|offset|overflow", {"strides": (1,)}),
    (RuntimeError, "stride|size|offset|overflow", {"strides": (-3, 1)}),
    (RuntimeError, "stride|size|offset|overflow", {"strides": (2**62, 2**62)}),
    (RuntimeError, "stride|size|offset|overflow", {"size": (-2, 3)}),
    (RuntimeError, "stride|size|offset|overflow", {"storage_offset": -1}),
    (RuntimeError, "stride|size|offset|overflow", {"storage_offset": 2**63 - 1}),
]


@pytest.mark.parametrize(("error", "message", "geometry"), BAD_GEOMETRIES)
def test_the_geometry_of_a_wrapper_is_checked(error: type[Exception], message: str, geometry: dict[str, Any]) -> None:
    class Wrapper(reftorch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    options = {"size": (2, 3), **geometry}
    with pytest.raises(error, match=message):
        reftorch.Tensor._make_wrapper_subclass(Wrapper, options.pop("size"), **options)
