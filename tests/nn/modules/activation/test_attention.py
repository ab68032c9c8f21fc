"""Multi-head attention against torch's, drawn over its options, masks and inputs.

Mirrors: test/test_multihead_attention.py
Leaves out: nested tensors.
"""

import random
import warnings
from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, gradients, tried


def mask(lib: Any, rng: random.Random, *shape: int) -> Any:
    """A boolean mask that leaves the first key, a float mask, or None."""
    kind = rng.choice(("none", "bool", "float"))
    size = 1
    for s in shape:
        size *= s
    if kind == "none":
        return None
    if kind == "float":
        return lib.tensor([rng.gauss(0, 1) for _ in range(size)], dtype=lib.float64).reshape(shape)
    hidden = lib.tensor([rng.random() < 0.4 for _ in range(size)]).reshape(shape)
    hidden[..., 0] = False
    return hidden


def drawn(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    heads = rng.choice((1, 2, 4))
    embed = heads * rng.choice((1, 2, 3)) + (rng.random() < 0.05)
    length, keys, batch = rng.randint(1, 4), rng.randint(1, 5), rng.choice((None, 1, 2, 3))
    options: dict[str, Any] = {"bias": rng.random() < 0.7, "batch_first": rng.random() < 0.5}
    options |= {"add_bias_kv": rng.random() < 0.3, "add_zero_attn": rng.random() < 0.3, "dropout": 0.0}
    same = rng.choice(("self", "kv", "none"))
    if same == "none" and rng.random() < 0.5:
        options |= {"kdim": rng.randint(1, 4), "vdim": rng.randint(1, 4)}
    keys = length if same == "self" else keys
    module = lib.nn.MultiheadAttention(embed, heads, dtype=lib.float64, **options)

    def made(steps: int, size: int) -> Any:
        batched = [batch, steps, size] if options["batch_first"] else [steps, batch, size]
        shape = [steps, size] if batch is None else batched
        return lib.randn(shape, dtype=lib.float64).requires_grad_(True)

    query = made(length, embed)
    key = query if same == "self" else made(keys, options.get("kdim", embed))
    value = key if same != "none" else made(keys, options.get("vdim", embed))
    n = 1 if batch is None else batch
    three = rng.random() < 0.5
    attn_mask = mask(lib, rng, n * heads, length, keys) if three else mask(lib, rng, length, keys)
    padding = mask(lib, rng, keys) if batch is None else mask(lib, rng, batch, keys)
    need = rng.random() < 0.5
    average, causal = rng.random() < 0.5, rng.random() < 0.15
    found: list[Any] = [repr(module), sorted(vars(module)), module.state_dict()]
    output, weights = module(query, key, value, padding, need, attn_mask, average, causal)
    inputs = list({id(t): t for t in (query, key, value)}.values())
    leaves = [*inputs, *module.parameters()]
    found += [output, weights, *gradients(lib, output, leaves)]
    return [*found, module.eval()(query, key, value, padding, need, attn_mask)[0]]


@pytest.mark.parametrize("seed", range(40))
def test_attention_is_that_of_torch(real_torch: ModuleType, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(lambda lib: tried(lambda: drawn(lib, seed)), real_torch)


def errors(lib: Any) -> list[Any]:
    attention = lib.nn.MultiheadAttention(4, 2)
    x, y = lib.ones(3, 2, 4), lib.ones(3, 4)
    return [
        tried(call)
        for call in (
            lambda: lib.nn.MultiheadAttention(0, 2),
            lambda: lib.nn.MultiheadAttention(5, 2),
            lambda: attention(x[0, 0], x, x),
            lambda: attention(x, y, y),
            lambda: attention(y, x, x),
            lambda: attention(lib.ones(3, 2, 6), x, x),
            lambda: attention(x, x, lib.ones(4, 2, 4)),
            lambda: attention(x, x, x, key_padding_mask=lib.ones(3)),
            lambda: attention(x, x, x, key_padding_mask=lib.ones(3, 3)),
            lambda: attention(x, x, x, key_padding_mask=lib.ones(2, 4)),
            lambda: attention(y, y, y, key_padding_mask=lib.ones(2, 3)),
            lambda: attention(x, x, x, attn_mask=lib.ones(3)),
            lambda: attention(x, x, x, attn_mask=lib.ones(2, 3)),
            lambda: attention(x, x, x, attn_mask=lib.ones(3, 3, 3)),
            lambda: attention(x, x, x, attn_mask=lib.ones(3, 3, dtype=lib.int64)),
            lambda: attention(y, y, y, attn_mask=lib.ones(4, 3, 3)),
            lambda: attention(x, x, x, is_causal=True),
            lambda: lib.nn.MultiheadAttention(4, 2, kdim=3)(x, x, x),
        )
    ]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def merged(lib: Any) -> list[Any]:
    attention, x = lib.nn.MultiheadAttention(4, 2, batch_first=True), lib.ones(2, 3, 4)
    keys, two, three = lib.arange(6.0).reshape(2, 3), lib.ones(3, 3), lib.arange(36.0).reshape(4, 3, 3)
    return [attention.merge_masks(m, k, x) for m in (None, two, three) for k in (None, keys)]


def test_merged_masks_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(merged, real_torch)


def static(lib: Any) -> list[Any]:
    lib.manual_seed(0)
    m, x = lib.nn.MultiheadAttention(4, 2), lib.ones(3, 2, 4)
    fixed = lib.randn(4, 5, 2)

    def call(**options: Any) -> Any:
        return lib.nn.functional.multi_head_attention_forward(
            x, x, x, 4, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0, m.out_proj.weight, m.out_proj.bias,
            **options,
        )  # fmt: skip

    bad = (lib.ones(3, 5, 2), lib.ones(4, 5, 3))
    found = [call(static_k=fixed, static_v=fixed * 2), call(static_k=fixed, static_v=fixed * 2, need_weights=False)]
    found += [tried(lambda t=t: call(static_k=t, static_v=fixed)) for t in bad]
    found += [tried(lambda t=t: call(static_k=fixed, static_v=t)) for t in bad]
    return [*found, tried(lambda: call(use_separate_proj_weight=True))]


def test_keys_and_values_that_are_projected_already(real_torch: ModuleType) -> None:
    compare(static, real_torch)


def test_dropout_draws_as_torch_does(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(2)
        attention, x = lib.nn.MultiheadAttention(4, 2, dropout=0.5), lib.ones(3, 2, 4)
        return [attention(x, x, x), attention.eval()(x, x, x)]

    compare(program, real_torch)
