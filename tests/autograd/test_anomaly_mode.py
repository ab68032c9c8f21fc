"""Anomaly mode: the forward call behind a failing node, and the first NaN.

Mirrors: test/test_autograd.py (the anomaly mode tests)
"""

import warnings

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def names_the_call_and_the_nan(lib):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        with lib.autograd.detect_anomaly():
            x = lib.tensor([0.0, 1.0], requires_grad=True)
            y = x.sqrt() * 0
            try:
                y.sum().backward()
            except RuntimeError as e:
                err = str(e)
    return (
        err,
        [str(x.message).split("File")[0] for x in w],
        [x.category.__name__ for x in w],
        "y=(x.sqrt()*0)" in str(w[-1].message),
    )


def names_the_calls_that_led_there(lib):

    class F(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return G.apply(g)

    class G(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("boo")

    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        with lib.autograd.detect_anomaly():
            x = lib.ones(2, requires_grad=True)
            (g,) = lib.autograd.grad(
                F.apply(x).sum(), x, create_graph=True, grad_outputs=lib.ones((), requires_grad=True)
            )
            try:
                g.sum().backward()
            except ValueError as e:
                err = str(e)
    return (err, [str(x.message).split("  File")[0] for x in w])


def without_the_search_for_nan(lib):
    with lib.autograd.detect_anomaly(check_nan=False):
        x = lib.tensor([0.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()
    return (str(x.grad), lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled())


def nests(lib):
    with lib.autograd.set_detect_anomaly(True):
        r = [lib.is_anomaly_enabled()]
        with lib.autograd.set_detect_anomaly(False):
            r.append(lib.is_anomaly_enabled())
        r.append(lib.is_anomaly_enabled())
    return (r, lib.is_anomaly_enabled())


def metadata(lib):
    with lib.autograd.set_detect_anomaly(True):
        a = lib.ones(1, requires_grad=True)
        y = a * 2
        return sorted(y.grad_fn.metadata)


PROGRAMS = [names_the_call_and_the_nan, names_the_calls_that_led_there, without_the_search_for_nan, nests, metadata]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)
