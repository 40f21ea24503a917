# The effect of CLADE_SANITIZE on every target. Each sanitizer has a build tree of its own, which tools/test makes; with clang,
# whose libFuzzer the fuzzers need, and which builds such code in half of GCC's time.
#
#   address   AddressSanitizer and UBSan, for all tests and the fuzzers (tests/fuzz)
#   thread    ThreadSanitizer, for the tests of what has threads
set(CLADE_SANITIZE "" CACHE STRING "Build everything under a sanitizer: address or thread")
if(NOT CLADE_SANITIZE)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "CLADE_SANITIZE needs clang: -DCMAKE_CXX_COMPILER=clang++-16")
endif()
if(CLADE_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  # The last is what guides the fuzzers; it costs the tests little, and both share their libraries.
  add_compile_options(${sanitizers} -fsanitize=fuzzer-no-link)
elseif(CLADE_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
  add_compile_options(${sanitizers})
else()
  message(FATAL_ERROR "CLADE_SANITIZE is \"${CLADE_SANITIZE}\"; address or thread is meant")
endif()
# Without debug information, which nobody reads until something is found: half the time to build. Reports then name
# functions; -DCMAKE_CXX_FLAGS=-g1 adds lines.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1")
add_link_options(${sanitizers})
# For the tests' own code, which is mostly what Catch2 and rapidcheck generate: a third of the time to build.
set(clade_test_options -O0 -fno-sanitize=undefined,fuzzer-no-link)
add_compile_definitions(_GLIBCXX_ASSERTIONS)
