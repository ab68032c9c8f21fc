// Mirrors: nothing in PyTorch, whose extensions call ops through typed handles.
//
// Calls an op from an extension. The library is built with hidden symbols, so an extension cannot compare the C++ types
// of its call with those of the kernel, and does not see the dispatch keys that the thread excludes. Both are known
// where OperatorHandle::callBoxed is compiled.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>

namespace reftorch::at {

namespace impl {

template <typename T>
IValue boxed(const T& value) {
  return IValue(value);
}
template <typename T>
IValue boxed(ArrayRef<T> list) {
  return IValue(list.vec());
}
inline IValue boxed(IntArrayRef list) {
  return IValue(list);
}
inline IValue boxed(const c10::OptionalIntArrayRef& list) {
  return list.has_value() ? IValue(*list) : IValue();
}
template <typename T>
IValue boxed(const std::optional<ArrayRef<T>>& list) {
  return list.has_value() ? boxed(*list) : IValue();
}
template <size_t N>
IValue boxed(const std::array<bool, N>& list) {
  return IValue(std::vector<bool>(list.begin(), list.end()));
}

} // namespace impl

// Calls the op with all arguments of its schema. Returns void for an op that writes to an argument.
template <typename Ret, typename... Args>
Ret call_boxed(const OperatorHandle& op, const Args&... args) {
  Stack stack;
  (stack.push_back(impl::boxed(args)), ...);
  op.callBoxed(&stack);
  if constexpr (!std::is_void_v<Ret>) {
    return impl::pop_result<Ret>::get(stack);
  }
}

} // namespace reftorch::at
