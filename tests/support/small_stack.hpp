#pragma once

#include <catch2/catch.hpp>
#include <pthread.h>

#include <cstddef>
#include <functional>

namespace clade::test {

/// Calls `f` on a thread whose stack has `bytes`, so that recursion which follows its
/// input ends the process already where the input is some kilobytes long. An exception of
/// `f` ends it too.
inline void on_small_stack(const std::function<void()>& f,
                           std::size_t bytes = std::size_t{256} << 10) {
  pthread_attr_t small{};
  REQUIRE(pthread_attr_init(&small) == 0);
  REQUIRE(pthread_attr_setstacksize(&small, bytes) == 0);
  pthread_t thread{};
  const auto call = [](void* it) -> void* {
    (*static_cast<const std::function<void()>*>(it))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &small, call, const_cast<std::function<void()>*>(&f))
          == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&small);
}

} // namespace clade::test
