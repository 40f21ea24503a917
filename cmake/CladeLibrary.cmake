# clade_library(NAME SOURCES a.cpp ... [USES ours ...] [WRAPS theirs ...] [EXPOSES theirs ...])
#
# One static library of ours. USES: our libraries, seen by whoever uses this one. WRAPS: third-party targets that stay
# inside its .cpp files. EXPOSES: the few third-party targets whose types stand in its headers.
function(clade_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;WRAPS;EXPOSES")
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_USES} ${arg_EXPOSES} PRIVATE clade_warnings ${arg_WRAPS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# clade_test(NAME SOURCES a_test.cpp ... USES ours ... [TIMEOUT seconds])
#
# One Catch2 executable for each library; CTest lists every TEST_CASE by itself.
function(clade_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;USES;WRAPS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_WRAPS} clade_warnings clade_test_main rapidcheck)
  target_compile_options(${name} PRIVATE ${clade_test_options})
  catch_discover_tests(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
