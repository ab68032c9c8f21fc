"""Transformer layers against torch's, drawn over their options and masks.

Mirrors: test/test_transformers.py
Leaves out: nested tensors, and the fused kernel that torch uses without gradients.
"""

import copy
import pickle
import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.modules.activation.test_attention import mask
from tests.nn.utils.both import compare, gradients, tried


def drawn(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    batch, length, memory = rng.choice((None, 1, 2)), rng.randint(1, 4), rng.randint(1, 4)
    activation = rng.choice(("relu", "gelu", lib.nn.functional.silu, lib.nn.GELU(), "other"))
    options: dict[str, Any] = {"dim_feedforward": 5, "dropout": rng.choice((0.0, 0.3)), "activation": activation}
    options |= {"batch_first": rng.random() < 0.5, "norm_first": rng.random() < 0.5, "bias": rng.random() < 0.7}
    options |= {"layer_norm_eps": 1e-3, "dtype": lib.float64}
    kind = rng.choice(("encoder", "decoder", "transformer"))

    def made(steps: int) -> Any:
        shape = [steps, 4] if batch is None else [batch, steps, 4] if options["batch_first"] else [steps, batch, 4]
        return lib.randn(shape, dtype=lib.float64).requires_grad_(True)

    def padding(steps: int) -> Any:
        return mask(lib, rng, steps) if batch is None else mask(lib, rng, batch, steps)

    def square(steps: int) -> Any:
        if rng.random() < 0.3:
            return lib.nn.Transformer.generate_square_subsequent_mask(steps, dtype=lib.float64)
        return mask(lib, rng, steps, steps)

    src, tgt = made(memory), made(length)
    if kind == "encoder":
        module = lib.nn.TransformerEncoderLayer(4, 2, **options)
        if rng.random() < 0.5:
            norm = lib.nn.LayerNorm(4, dtype=lib.float64) if rng.random() < 0.5 else None
            module = lib.nn.TransformerEncoder(module, 2, norm, enable_nested_tensor=False)
        args, call = (src, square(memory), padding(memory)), {}
        inputs = [src]
    else:
        inputs, args = [src, tgt], (tgt, src)
        call = {"tgt_mask": square(length), "tgt_key_padding_mask": padding(length)}
        call |= {"memory_mask": mask(lib, rng, length, memory), "memory_key_padding_mask": padding(memory)}
        if kind == "decoder":
            module = lib.nn.TransformerDecoderLayer(4, 2, **options)
            if rng.random() < 0.5:
                norm = rng.choice((None, lib.nn.LayerNorm(4, dtype=lib.float64)))
                module = lib.nn.TransformerDecoder(module, 2, norm)
        else:
            module = lib.nn.Transformer(4, 2, 1, 2, **options)
            args = (src, tgt)
            call |= {"src_mask": square(memory), "src_key_padding_mask": padding(memory)}
    found: list[Any] = [repr(module), module.state_dict()]
    output = module(*args, **call)
    leaves = [*inputs, *module.parameters()]
    found += [output, *gradients(lib, output, leaves), module.eval()(*args, **call)]
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        found += [repr(again), again(*args, **call)]
    return found


@pytest.mark.parametrize("seed", range(30))
def test_layers_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(lambda lib: tried(lambda: drawn(lib, seed)), real_torch)


def errors(lib: Any) -> list[Any]:
    model = lib.nn.Transformer(4, 2, 1, 1, 5)
    return [
        tried(call)
        for call in (
            lambda: model(lib.ones(3, 2, 4), lib.ones(3, 1, 4)),
            lambda: model(lib.ones(3, 2, 5), lib.ones(3, 2, 4)),
            lambda: lib.nn.TransformerEncoderLayer(4, 2, activation="silu"),
            lambda: lib.nn.TransformerDecoderLayer(4, 3),
            lambda: lib.nn.Transformer.generate_square_subsequent_mask(3),
        )
    ]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def test_own_encoders_and_decoders_take_the_place(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        class Both(lib.nn.Module):
            def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
                return x + len(args) + len(kwargs)

        model = lib.nn.Transformer(4, 2, custom_encoder=Both(), custom_decoder=Both())
        return [model(lib.ones(3, 2, 4), lib.ones(3, 2, 4)), repr(model)]

    compare(program, real_torch)


def test_a_causal_language_model_learns_as_torch_does(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        layer = lib.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, dtype=lib.float64)
        words, scores = lib.nn.Embedding(5, 8, dtype=lib.float64), lib.nn.Linear(8, 5, dtype=lib.float64)
        net = lib.nn.Sequential(words, layer, scores)
        optimizer = lib.optim.AdamW(net.parameters(), lr=0.01)
        text = lib.tensor([[0, 1, 2, 3, 4, 0, 1, 2], [2, 1, 0, 4, 3, 2, 1, 0]])
        causal = lib.nn.Transformer.generate_square_subsequent_mask(7, dtype=lib.float64)
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            found = scores(layer(words(text[:, :-1]), causal, is_causal=True))
            loss = lib.nn.functional.cross_entropy(found.flatten(0, 1), text[:, 1:].flatten())
            loss.backward()
            lib.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        return losses

    compare(program, real_torch)


ENCODER_LAYERS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "batch first": {"batch_first": True},
    "norm first": {"batch_first": True, "norm_first": True},
    "odd heads": {"batch_first": True, "nhead": 1},
    "another activation": {"batch_first": True, "activation": abs},
    "no bias": {"batch_first": True, "bias": False},
}


def words_about_nested_tensors(t: Any, layer: Any, enable: bool) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        encoder = t.nn.TransformerEncoder(layer, 1, enable_nested_tensor=enable)
    assert encoder.num_layers == 1
    return [str(warning.message) for warning in said]


@pytest.mark.parametrize("enable", [True, False])
@pytest.mark.parametrize("name", ENCODER_LAYERS)
def test_a_layer_that_cannot_use_nested_tensors(name: str, enable: bool, real_torch: ModuleType) -> None:
    options = {"nhead": 2, **ENCODER_LAYERS[name]}
    ours, theirs = (
        words_about_nested_tensors(t, t.nn.TransformerEncoderLayer(4, **options), enable)
        for t in (reftorch, real_torch)
    )
    assert ours == theirs


def test_an_encoder_of_another_layer(real_torch: ModuleType) -> None:
    ours, theirs = (words_about_nested_tensors(t, t.nn.Linear(1, 1), True) for t in (reftorch, real_torch))
    assert any("because encoder_layer was not TransformerEncoderLayer" in message for message in ours)
    assert ours == theirs
