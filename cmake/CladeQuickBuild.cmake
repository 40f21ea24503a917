# Whole builds in less processor time: source files are compiled in batches (cmake/batches), with headers that
# were compiled before. -DCLADE_BATCH=12 asks for it. Without, as people work, a changed file is compiled by itself, and one
# that includes too little is found.
set(CLADE_BATCH 0 CACHE STRING "How many source files are compiled as one; 0: each by itself, and no header before")

if(CLADE_BATCH)
  # One set of precompiled headers serves libraries and programs only if both have the same options.
  add_compile_options(-fPIC)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    # A batch includes its files: what they define in anonymous namespaces is no other file's.
    add_compile_options(-fpch-preprocess -Wno-subobject-linkage)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # If much is inlined, GCC 12 sees std::string write past its end (bugs 105329 and 105651 of GCC).
      add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
    endif()
  endif()
endif()

find_program(ccache_program ccache)
if(ccache_program AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_program})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    # Another clone's object is as good; and what ccache must be told of precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_NOHASHDIR=true CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
        CCACHE_SLOPPINESS=pch_defines,time_macros ${ccache_program})
  endif()
endif()

# clade_batches(VARIABLE NAME): replaces the source files in the variable by batches of them, for the target of that name.
function(clade_batches variable name)
  set(alone)
  set(files)
  foreach(source IN LISTS ${variable})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE file)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated)
      list(APPEND alone ${source})
    else()
      list(APPEND files ${file})
    endif()
  endforeach()
  list(LENGTH files length)
  if(NOT CLADE_BATCH OR length LESS 2)
    return()
  endif()
  set(divide ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/batches ${PROJECT_SOURCE_DIR} ${CLADE_BATCH} ${files})
  execute_process(COMMAND ${divide} OUTPUT_VARIABLE count COMMAND_ERROR_IS_FATAL ANY)
  set(batches)
  foreach(number RANGE 1 ${count})
    list(APPEND batches ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cpp)
  endforeach()
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${batches} COMMAND ${divide} --write ${batches}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/batches ${files} COMMENT "Dividing the files of ${name}" VERBATIM)
  set(${variable} ${batches} ${alone} PARENT_SCOPE)
endfunction()

# clade_headers(SET HEADERS <a> ... [OPTIONS ...] [USES theirs ...]): compiles the headers once, for clade_use_headers.
function(clade_headers set)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;OPTIONS;USES")
  if(NOT CLADE_BATCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(clade_headers_${set} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/headers.cpp)
  target_compile_options(clade_headers_${set} PRIVATE ${arg_OPTIONS})
  target_link_libraries(clade_headers_${set} PRIVATE clade_warnings fmt::fmt ${arg_USES})
  target_precompile_headers(clade_headers_${set} PRIVATE ${arg_HEADERS})
endfunction()

# clade_use_headers(TARGET SET): a set of headers is included in each of the target's files, compiled before. The target
# has the options of the set. fmt, which every file may use, is linked in any case.
function(clade_use_headers target set)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  if(CLADE_BATCH)
    target_precompile_headers(${target} REUSE_FROM clade_headers_${set})
  endif()
endfunction()

# The headers that most files include.
set(clade_standard_headers
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque>
  <filesystem> <fstream> <functional> <iostream> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span>
  <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
