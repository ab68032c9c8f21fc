// Mirrors: aten/src/ATen/native/Scalar.cpp (_local_scalar_dense_cpu)
#include <ATen/native/Scalar.h>

#include <ATen/Dispatch.h>
#include <c10/util/Load.h>

namespace reftorch::at::native {

static Scalar local_scalar_dense_kernel(const Tensor& self) {
  const void* data = self.data_ptr(); // data_ptr<scalar_t>() would compare the dtype again
  if (self.scalar_type() == c10::kUInt64) {
    return Scalar(*static_cast<const uint64_t*>(data));
  }
  return dispatch<AllTypesAndBool>(self.scalar_type(), "_local_scalar_dense_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    return Scalar(c10::load<scalar_t>(data));
  });
}

REGISTER_CPU_DISPATCH(local_scalar_dense_stub, local_scalar_dense_kernel)

} // namespace reftorch::at::native
