// Mirrors: c10/util/FunctionRef.h
//
// A reference to a callable: two words, no allocation. It does not own the callable, so use it only for callbacks that
// are called before the function returns.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace reftorch::c10 {

template <typename Fn>
class function_ref;

template <typename Ret, typename... Params>
class function_ref<Ret(Params...)> {
 public:
  template <typename Callable, std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, function_ref>, int> = 0>
  function_ref(Callable&& callable)
      : callback_(&callback_fn<std::remove_reference_t<Callable>>), callable_(reinterpret_cast<intptr_t>(&callable)) {}

  Ret operator()(Params... params) const {
    return callback_(callable_, std::forward<Params>(params)...);
  }

 private:
  template <typename Callable>
  static Ret callback_fn(intptr_t callable, Params... params) {
    return (*reinterpret_cast<Callable*>(callable))(std::forward<Params>(params)...);
  }
  Ret (*callback_)(intptr_t callable, Params... params);
  intptr_t callable_;
};

} // namespace reftorch::c10
