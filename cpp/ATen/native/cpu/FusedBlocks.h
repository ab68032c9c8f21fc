// Mirrors: nothing in PyTorch: there each fused kernel has a loop over hand-written vectors.
//
// Note [Fused updates in blocks]
// Problem: the ops of an update, one after the other, read and write each parameter and its state many times, and each
// op is a call. One loop that does the whole update at once would be the quickest, but the compiler contracts products
// and sums of such a loop into instructions that round once, so the numbers would differ from those of the ops. Trick:
// the update takes a block of a parameter that fits the fastest cache, and runs the flat loop of each op on that block.
// So every number is rounded as the ops round it, and memory is read and written once. Limits: the 16-bit floats are
// kept as float during the whole update, as in PyTorch, where the ops round after each of them.
#pragma once

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/native/FusedUpdate.h>
#include <ATen/native/cpu/Loops.h>

namespace reftorch::at::native {

// A block of one tensor as numbers in which kernels compute: the place in memory itself, or a copy for 16-bit floats.
template <typename scalar_t>
class FusedBlock final {
 public:
  using opmath_t = opmath_type<scalar_t>;
  static constexpr bool is_copy = !std::is_same_v<scalar_t, opmath_t>;

  FusedBlock(const Tensor& t, int64_t begin, int64_t n, bool is_read = true)
      : place_(t.data_ptr<scalar_t>() + begin), n_(n) {
    if constexpr (is_copy) {
      for (int64_t i = 0; i < n && is_read; i++) {
        copy_[i] = opmath_t(place_[i]);
      }
    }
  }
  opmath_t* data() {
    if constexpr (is_copy) {
      return copy_;
    } else {
      return place_;
    }
  }
  void store() {
    if constexpr (is_copy) {
      for (int64_t i = 0; i < n_; i++) {
        place_[i] = scalar_t(copy_[i]);
      }
    }
  }

 private:
  scalar_t* place_;
  int64_t n_;
  opmath_t copy_[is_copy ? kBlockWidth : 1];
};

// The gradient of a block. The caller's gradient stays as it is, except that grad_scale divides it.
template <typename scalar_t>
class FusedGradient final {
 public:
  using T = opmath_type<scalar_t>;

  FusedGradient(const Tensor& grad, int64_t begin, int64_t n, const FusedOptions& options, T scale)
      : block_(grad, begin, n), data_(block_.data()), n_(n) {
    if (options.grad_scale.defined()) {
      vectorized_loop(block_.data(), data_, n, [scale](T g) -> T { return g / scale; });
      block_.store();
    }
    if (options.maximize) {
      vectorized_loop(changed_, data_, n, [](T g) -> T { return -g; });
      data_ = changed_;
    }
  }
  const T* data() const {
    return data_;
  }
  // Adds a multiple of another block.
  void add(const T* other, T alpha) {
    vectorized_loop(changed_, data_, other, n_, [alpha](T g, T o) -> T { return g + alpha * o; });
    data_ = changed_;
  }

 private:
  FusedBlock<scalar_t> block_;
  const T* data_;
  int64_t n_;
  T changed_[kBlockWidth];
};

inline double number_of(const Tensor& t) {
  return at::_local_scalar_dense(t).to<double>();
}

inline bool skips_update(const FusedOptions& options) {
  return options.found_inf.defined() && number_of(options.found_inf) == 1;
}

inline double lr_of(const FusedOptions& options) {
  return options.lr.defined() ? number_of(options.lr) : options.lr_value;
}

// Calls f(begin, n) for the blocks of a parameter, on several threads if there are many.
template <typename F>
void for_each_block(const Tensor& param, const F& f) {
  const int64_t numel = param.numel(), blocks = (numel + kBlockWidth - 1) / kBlockWidth;
  at::parallel_for(0, blocks, at::grain_of(kBlockWidth), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++) {
      f(b * kBlockWidth, std::min(kBlockWidth, numel - b * kBlockWidth));
    }
  });
}

} // namespace reftorch::at::native
