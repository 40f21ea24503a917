# clade_library(NAME SOURCES a.cpp ... [USES ours ...] [WRAPS theirs ...] [EXPOSES theirs ...] [EXACT | HEADERS set])
#
# One static library of ours. USES: our libraries, seen by whoever uses this one. WRAPS: third-party targets that stay
# inside its .cpp files. EXPOSES: the few third-party targets whose types stand in its headers. EXACT: its floating point
# is the same on every machine; a fused multiplication and addition rounds once where two operations round twice. HEADERS:
# the set of headers that are compiled before, where it is not the folder's usual one (clade_usual_headers; CladeQuickBuild.cmake).
function(clade_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXACT" "HEADERS" "SOURCES;USES;WRAPS;EXPOSES")
  clade_batches(arg_SOURCES ${name})
  add_library(${name} STATIC ${arg_SOURCES})
  if(arg_EXACT)
    target_compile_options(${name} PRIVATE -ffp-contract=off)
    clade_use_headers(${name} exact)
  elseif(arg_HEADERS)
    clade_use_headers(${name} ${arg_HEADERS})
  else()
    clade_use_headers(${name} ${clade_usual_headers})
  endif()
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_USES} ${arg_EXPOSES} PRIVATE clade_warnings ${arg_WRAPS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# clade_module(NAME SOURCES a.cpp ... USES ours ...)
#
# One module that the program loads when it needs it. The target clade depends on every module (tools/CMakeLists.txt), so
# that whoever builds the program has built all that it loads.
function(clade_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_USES} clade_warnings)
  set_property(GLOBAL APPEND PROPERTY CLADE_MODULES ${name})
endfunction()

# clade_test(NAME SOURCES a_test.cpp ... USES ours ... [TIMEOUT seconds] [HEADERS set])
#
# One Catch2 executable for each library; CTest lists every TEST_CASE by itself. HEADERS: the set of headers that are
# compiled before, where it is not that of all tests (CladeQuickBuild.cmake).
function(clade_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;HEADERS" "SOURCES;USES;WRAPS")
  if(NOT arg_HEADERS)
    set(arg_HEADERS tests)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  clade_batches(arg_SOURCES ${name})
  add_executable(${name} ${arg_SOURCES})
  clade_use_headers(${name} ${arg_HEADERS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_WRAPS} clade_warnings clade_test_main rapidcheck)
  target_compile_options(${name} PRIVATE ${clade_test_options})
  catch_discover_tests(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
