"""Batching rules of draws from exponential, geometric, Cauchy, gamma, Poisson and discrete distributions.

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp
"""

from reftorch._functorch.batch_rules._common import batch_rule
from reftorch._functorch.batch_rules._generic import pointwise
from reftorch._functorch.batch_rules._random import inplace, of_tensors, random_rule, rows

random_rule("poisson binomial _standard_gamma _sample_dirichlet")(of_tensors)
batch_rule("_standard_gamma_grad _dirichlet_grad")(pointwise)  # torch does not tag these two as pointwise
random_rule("multinomial")(rows)
random_rule("exponential_ geometric_ cauchy_ log_normal_")(inplace)
