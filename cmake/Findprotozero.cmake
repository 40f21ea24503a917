# protozero is headers only and ships no CMake config. Defines protozero::protozero.
find_path(protozero_INCLUDE_DIR protozero/pbf_writer.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(protozero REQUIRED_VARS protozero_INCLUDE_DIR)
if(protozero_FOUND AND NOT TARGET protozero::protozero)
  add_library(protozero::protozero INTERFACE IMPORTED)
  set_target_properties(protozero::protozero PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${protozero_INCLUDE_DIR}")
endif()
