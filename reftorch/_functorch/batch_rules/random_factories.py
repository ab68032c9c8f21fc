"""Batching rules of new tensors of random numbers.

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp
"""

from reftorch._functorch.batch_rules._random import factory, like, permutation, random_rule

random_rule("rand randn randint randint.low")(factory)
random_rule("randperm")(permutation)
random_rule("rand_like randn_like randint_like randint_like.low_dtype")(like)
