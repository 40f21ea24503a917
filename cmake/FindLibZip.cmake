# The CMake config of Debian's libzip-dev asks for programs that are in other packages. Defines LibZip::zip.
find_path(LibZip_INCLUDE_DIR zip.h)
find_library(LibZip_LIBRARY zip)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibZip REQUIRED_VARS LibZip_INCLUDE_DIR LibZip_LIBRARY)
if(LibZip_FOUND AND NOT TARGET LibZip::zip)
  add_library(LibZip::zip UNKNOWN IMPORTED)
  set_target_properties(LibZip::zip PROPERTIES IMPORTED_LOCATION "${LibZip_LIBRARY}"
                                               INTERFACE_INCLUDE_DIRECTORIES "${LibZip_INCLUDE_DIR}")
endif()
