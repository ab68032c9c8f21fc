"""Batching rules of draws from uniform, normal and Bernoulli distributions.

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp
"""

from reftorch._functorch.batch_rules._random import factory, inplace, of_tensors, random_rule

random_rule("normal.float_float")(factory)
random_rule("bernoulli bernoulli.p normal.Tensor_float normal.float_Tensor normal.Tensor_Tensor")(of_tensors)
random_rule("uniform_ normal_ random_ random_.to random_.from bernoulli_.float bernoulli_.Tensor")(inplace)
