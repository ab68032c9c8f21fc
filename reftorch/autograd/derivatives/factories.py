"""New tensors take the shape of their input, but not its values.

Mirrors: tools/autograd/derivatives.yaml (empty_like, new_zeros, ...)
Leaves out: nothing.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable(
    "empty_like", "zeros_like", "ones_like", "full_like",
    "new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full",
    "rand_like", "randn_like", "randint_like", "randint_like.low_dtype",
)  # fmt: skip
non_differentiable(
    "empty", "empty_strided", "zeros", "ones", "full", "scalar_tensor", "eye", "eye.m",
    "arange", "arange.start", "arange.start_step", "linspace",
    "linspace.Tensor_Tensor", "linspace.Tensor_Scalar", "linspace.Scalar_Tensor",
    "logspace.Tensor_Tensor", "logspace.Tensor_Scalar", "logspace.Scalar_Tensor",
    "logspace", "range.step", "tril_indices", "triu_indices", "empty_permuted",
    "bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window",
    "rand", "randn", "randint", "randint.low", "randperm", "normal.float_float",
)  # fmt: skip
