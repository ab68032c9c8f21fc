// Mirrors: aten/src/ATen/core/op_registration/op_registration_test.cpp
// An op's rows follow its registrations: in whatever order they come, and when a stub gets its kernel later.
#include <ATen/EmptyTensor.h>
#include <ATen/core/library.h>
#include <ATen/native/DispatchStub.h>

#include <doctest/doctest.h>

using namespace reftorch::at;
using reftorch::c10::DeviceType;
using reftorch::c10::DispatchKey;

namespace {

using number_fn = int64_t (*)();
native::DispatchStub<number_fn> early_stub("early_stub");
native::DispatchStub<number_fn> late_stub("late_stub");

int64_t one() {
  return 1;
}
int64_t two() {
  return 2;
}

int64_t sum_of_stubs(const Tensor& self) {
  return early_stub(self.device().type()) + late_stub(self.device().type());
}
int64_t seven(const Tensor&) {
  return 7;
}
int64_t eight(const Tensor&) {
  return 8;
}

int64_t call(const OperatorHandle& op) {
  const Tensor t = detail::empty_generic({1}, ScalarType::Float);
  return op.typed<int64_t(const Tensor&)>().call(t);
}

} // namespace

TEST_CASE("an op's row is filled once all of its stubs have a kernel for the device") {
  native::RegisterDispatch<number_fn>(early_stub, DeviceType::CPU, &one, {"one", __FILE__, __LINE__});
  Library m("aten");
  m.def("_test_sum_of_stubs(Tensor self) -> int", TORCH_FN(sum_of_stubs), kernels(early_stub, late_stub));
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("_test_sum_of_stubs");
  CHECK_FALSE(op.entry().hasKernelForDispatchKey(DispatchKey::CPU));
  CHECK_THROWS_AS(call(op), reftorch::c10::NotImplementedError);

  native::RegisterDispatch<number_fn>(late_stub, DeviceType::CPU, &two, {"two", __FILE__, __LINE__});
  CHECK(op.entry().hasKernelForDispatchKey(DispatchKey::CPU));
  CHECK_FALSE(op.entry().hasKernelForDispatchKey(DispatchKey::CUDA));
  CHECK(call(op) == 3);
}

TEST_CASE("a kernel for a row comes before the kernel of an alias, and a newer one before an older one") {
  Library m("aten");
  m.def_composite("_test_composite(Tensor self) -> int", TORCH_FN(seven));
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("_test_composite");
  CHECK(op.entry().is_composite);
  CHECK(call(op) == 7);
  m.impl("_test_composite", DispatchKey::CPU, TORCH_FN(eight));
  CHECK_FALSE(op.entry().is_composite); // what has a kernel of its own for a backend does not fall apart
  CHECK(call(op) == 8);
  CHECK(op.entry().kernelOfRow(DispatchKey::CUDA)->function == "seven");
}
