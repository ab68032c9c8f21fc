// Mirrors: aten/src/ATen/native/cpu/Loops.h (cpu_serial_kernel)
//
// Loops for random numbers. They run on one thread, element by element in the order of memory, under the generator's
// lock, because the order of the draws is part of the result.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorIterator.h>

namespace reftorch::at::native {

// Draws one number for each element.
template <typename scalar_t, typename F>
void cpu_serial_kernel(TensorIterator& iter, CPUGeneratorImpl* generator, const F& draw) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        for (int64_t j = 0; j < size1; j++) {
          for (int64_t i = 0; i < size0; i++) {
            *reinterpret_cast<scalar_t*>(data[0] + j * strides[iter.ntensors()] + i * strides[0]) =
                static_cast<scalar_t>(draw());
          }
        }
      },
      0, iter.numel());
}

// Draws one number for each element, with a parameter of its own from the input.
template <typename out_t, typename in_t, typename F>
void cpu_serial_unary_kernel(TensorIterator& iter, CPUGeneratorImpl* generator, const F& draw) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        for (int64_t j = 0; j < size1; j++) {
          for (int64_t i = 0; i < size0; i++) {
            const in_t parameter = *reinterpret_cast<const in_t*>(data[1] + j * strides[3] + i * strides[1]);
            *reinterpret_cast<out_t*>(data[0] + j * strides[2] + i * strides[0]) = static_cast<out_t>(draw(parameter));
          }
        }
      },
      0, iter.numel());
}

// The same with two parameters, which have the dtype of the result.
template <typename scalar_t, typename F>
void cpu_serial_binary_kernel(TensorIterator& iter, CPUGeneratorImpl* generator, const F& draw) {
  std::lock_guard<c10::Mutex> lock(generator->mutex_);
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
        for (int64_t j = 0; j < size1; j++) {
          for (int64_t i = 0; i < size0; i++) {
            const auto parameter = [&](int k) {
              return *reinterpret_cast<const scalar_t*>(data[k] + j * strides[3 + k] + i * strides[k]);
            };
            *reinterpret_cast<scalar_t*>(data[0] + j * strides[3] + i * strides[0]) =
                static_cast<scalar_t>(draw(parameter(1), parameter(2)));
          }
        }
      },
      0, iter.numel());
}

} // namespace reftorch::at::native
