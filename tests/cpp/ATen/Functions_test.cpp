// Mirrors: aten/src/ATen/test/operators_test.cpp
// The functions of the generated ATen/Functions.h: each has the signature of its op's kernel.
#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <doctest/doctest.h>

#include <string>

using namespace reftorch::at;
namespace c10 = reftorch::c10;

template <typename Signature>
static void check_signature(const std::string& name) {
  CHECK_NOTHROW_MESSAGE(Dispatcher::singleton().findSchemaOrThrow(name).typed<Signature>(), name);
}

TEST_CASE("every generated function has its kernel's signature") {
  int functions = 0;
#define FUNCTION(name, ...)           \
  check_signature<__VA_ARGS__>(name); \
  functions++;
#include <ATen/FunctionSignatures.inc>
#undef FUNCTION
  CHECK(functions > 100);
}

TEST_CASE("another signature than the kernel's is refused") {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::add.Tensor");
  CHECK_THROWS_WITH_AS(op.typed<Tensor(const Tensor&)>(),
                       doctest::Contains("typed<...>() called with another signature"), c10::Error);
}

TEST_CASE("a factory takes dtype and device, and an out function its output first") {
  const Tensor x = zeros({2, 3}, c10::ScalarType::Double, Device(c10::DeviceType::CPU));
  Tensor out = empty({2, 3}, c10::ScalarType::Double);
  CHECK(&div_out(out, x, ones_like(x)) == &out);
  CHECK(sum(out).item().toDouble() == 0);
}
