# CPack's description of the Debian package. tools/package says in the environment where the staged files are.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../../CMakeLists.txt project REGEX "^project\\(clade VERSION ")
string(REGEX MATCH "[0-9.]+" CPACK_PACKAGE_VERSION "${project}")

set(CPACK_PACKAGE_NAME clade)
set(CPACK_PACKAGE_VENDOR Clade)
set(CPACK_PACKAGE_CONTACT "The Clade developers <clade@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "evolves neural networks for your data")
set(CPACK_PACKAGE_DESCRIPTION
  "clade searches for the network (its layers, connections and hyperparameters) that\npredicts a column of a table or the class of an image, on every device it is given.\nIt holds LibTorch for processors.")
set(CPACK_INSTALLED_DIRECTORIES $ENV{CLADE_STAGED} .)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES OFF) # They are.

set(CPACK_PACKAGE_FILE_NAME clade)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS $ENV{CLADE_STAGED}/usr/lib/clade/torch/lib)
