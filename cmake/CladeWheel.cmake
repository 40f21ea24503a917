# The parts that `pip install .` adds to a build: the page, as tools/setup builds it, and a sentence where packages of Debian
# are missing. Packages are not installed: pip is no tool for the system.
#
# pip's build has LibTorch from the package torch of its own environment, in which CMake looks for packages. The variables
# of that environment are not for other interpreters.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=PYTHONPATH --unset=PIP_PREFIX
    bash -c "source tools/setup && as_root=OFF && install_packages \"\${build_packages[@]}\" && install_page"
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The set-up ended with status ${status}: what it said stands above.")
endif()
if(NOT Torch_DIR)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('torch').origin).parent)"
    OUTPUT_VARIABLE torch_package OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(Torch_DIR ${torch_package}/share/cmake/Torch)
endif()
