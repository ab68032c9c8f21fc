// Mirrors: aten/src/ATen/templates/Operator.h
// The body of a C++ caller's door to an op: ATen/Functions.cpp and its kin are made of it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

// Looks the op up on the first call; `sig` is the signature its kernel was registered with.
#define CALL_OP(name, sig, ...)                                                                                 \
  static const auto op = ::reftorch::at::Dispatcher::singleton().findSchemaOrThrow("aten::" name).typed<sig>(); \
  return op.call(__VA_ARGS__)
