# LibTorch has Gloo inside, but not the headers of it that its own include. Defines gloo::headers, without a library.
find_path(GlooHeaders_INCLUDE_DIR gloo/rendezvous/store.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GlooHeaders REQUIRED_VARS GlooHeaders_INCLUDE_DIR)
if(GlooHeaders_FOUND AND NOT TARGET gloo::headers)
  add_library(gloo::headers INTERFACE IMPORTED)
  set_target_properties(gloo::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${GlooHeaders_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS USE_C10D_GLOO) # LibTorch's own configuration says so too.
endif()
