# The files that `cmake --install` puts below its prefix, which may be moved as a whole:
#
#   bin/clade                       a link to the program
#   lib/clade/clade                 the program, and beside it the modules that it loads
#   share/clade/search_spaces       what networks may be made of
#   share/clade/experiments         the examples, with their data
#
# The modules find LibTorch in lib/clade/torch/lib, where the Debian package has it, or in the Python package torch where
# the prefix is the Python package clade: site-packages/clade/lib/clade, site-packages/torch/lib.
set(programs clade)
if(CLADE_TORCH)
  list(APPEND programs clade_training clade_torch_export)
  set_target_properties(clade_training clade_torch_export PROPERTIES
    INSTALL_RPATH "$ORIGIN/torch/lib;$ORIGIN/../../../torch/lib")
  if(TARGET torch_library) # Else CladeTorch.cmake has linked it.
    # The part of LibTorch for GPUs comes with libtorch.so, of which nothing is called.
    target_link_libraries(clade_training PRIVATE torch_library)
    target_link_libraries(clade_torch_export PRIVATE torch_library)
  endif()
endif()
if(TARGET clade_arrow)
  # Its libraries are those of the Python package pyarrow, where that is installed beside.
  list(APPEND programs clade_arrow)
  set_target_properties(clade_arrow PROPERTIES INSTALL_RPATH "$ORIGIN/../../../pyarrow")
endif()
install(TARGETS ${programs}
  RUNTIME DESTINATION lib/clade COMPONENT clade
  LIBRARY DESTINATION lib/clade COMPONENT clade)
install(DIRECTORY search_spaces experiments DESTINATION share/clade COMPONENT clade
  FILES_MATCHING PATTERN *.toml PATTERN experiments/*.py PATTERN experiments/data/*
  PATTERN experiments/tables EXCLUDE PATTERN nas-bench-201.toml EXCLUDE # Their tables are not shipped.
  PATTERN experiments/peers EXCLUDE)
install(FILES LICENSE NOTICE DESTINATION share/clade COMPONENT clade)

# A wheel holds no links: there the Python package is what starts the program.
install(CODE "
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(CREATE_LINK ../lib/clade/clade \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/clade\" SYMBOLIC)"
  COMPONENT link)
