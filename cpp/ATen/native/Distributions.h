// Mirrors: aten/src/ATen/native/Distributions.h, aten/src/ATen/native/UnaryOps.h (the stubs of random ops)
//
// The kernels that fill a tensor with random numbers.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Generator.h>
#include <ATen/native/DispatchStub.h>

namespace reftorch::at::native {

using OptionalGenerator = std::optional<Generator>;

// A kernel draws from the default generator of its device if none is given. The CPU kernels draw in the order of
// memory, on one thread, and hold the lock of the generator.
using uniform_fn = void (*)(TensorIterator& iter, double from, double to, const OptionalGenerator& generator);
using normal_fn = void (*)(Tensor& self, double mean, double std, const OptionalGenerator& generator);
using random_fn = void (*)(TensorIterator& iter, const OptionalGenerator& generator);
using random_from_to_fn = void (*)(TensorIterator& iter, uint64_t range, int64_t base,
                                   const OptionalGenerator& generator);
using bernoulli_scalar_fn = void (*)(TensorIterator& iter, double p, const OptionalGenerator& generator);
using bernoulli_tensor_fn = void (*)(TensorIterator& iter, const OptionalGenerator& generator); // operands: result, p
using randperm_fn = void (*)(const Tensor& result, int64_t n, const OptionalGenerator& generator);
using exponential_fn = void (*)(TensorIterator& iter, double lambda, const OptionalGenerator& generator);
using geometric_fn = void (*)(TensorIterator& iter, double p, const OptionalGenerator& generator);
using cauchy_fn = void (*)(TensorIterator& iter, double median, double sigma, const OptionalGenerator& generator);
using log_normal_fn = void (*)(TensorIterator& iter, double mean, double std, const OptionalGenerator& generator);
using poisson_fn = void (*)(TensorIterator& iter, const OptionalGenerator& generator);  // operands: result, rate
using binomial_fn = void (*)(TensorIterator& iter, const OptionalGenerator& generator); // operands: result, count, prob
using gamma_fn = void (*)(TensorIterator& iter, const OptionalGenerator& generator);    // operands: result, shape
using gamma_grad_fn = void (*)(TensorIterator& iter);     // operands: result, shape parameter, sample
using dirichlet_grad_fn = void (*)(TensorIterator& iter); // operands: result, sample, concentration, sum of all
// self (rows, categories) -> result (rows, samples), both contiguous
using multinomial_fn = void (*)(const Tensor& result, const Tensor& self, const OptionalGenerator& generator);
DECLARE_DISPATCH(uniform_fn, uniform_stub)
DECLARE_DISPATCH(normal_fn, normal_stub)
DECLARE_DISPATCH(random_fn, random_stub)
DECLARE_DISPATCH(random_from_to_fn, random_from_to_stub)
DECLARE_DISPATCH(bernoulli_scalar_fn, bernoulli_scalar_stub)
DECLARE_DISPATCH(bernoulli_tensor_fn, bernoulli_tensor_stub)
DECLARE_DISPATCH(randperm_fn, randperm_stub)
DECLARE_DISPATCH(exponential_fn, exponential_stub)
DECLARE_DISPATCH(geometric_fn, geometric_stub)
DECLARE_DISPATCH(cauchy_fn, cauchy_stub)
DECLARE_DISPATCH(log_normal_fn, log_normal_stub)
DECLARE_DISPATCH(poisson_fn, poisson_stub)
DECLARE_DISPATCH(binomial_fn, binomial_stub)
DECLARE_DISPATCH(gamma_fn, gamma_stub)
DECLARE_DISPATCH(gamma_grad_fn, gamma_grad_stub)
DECLARE_DISPATCH(dirichlet_grad_fn, dirichlet_grad_stub)
DECLARE_DISPATCH(multinomial_fn, multinomial_with_replacement_stub)
// Writes to result (rows, n) the positions of the n largest elements in each row of speed (rows, categories), the
// largest first. Both are contiguous; speed is float64 and result is int64.
using fastest_fn = void (*)(const Tensor& result, const Tensor& speed);
DECLARE_DISPATCH(fastest_fn, fastest_stub)

} // namespace reftorch::at::native
