# Makes the target torch. LibTorch's own configuration is used for its build for CPUs; that for CUDA wants a whole CUDA toolkit,
# of which Clade, which has no CUDA source, needs nothing: its libraries are named here.
get_filename_component(torch_prefix "${Torch_DIR}/../../.." ABSOLUTE)
if(EXISTS ${torch_prefix}/lib/libtorch_cuda.so)
  message(STATUS "LibTorch for CUDA: linking ${torch_prefix} by itself")
  set(TORCH_INSTALL_PREFIX ${torch_prefix})
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch INTERFACE ${torch_prefix}/include ${torch_prefix}/include/torch/csrc/api/include)
  target_link_libraries(torch INTERFACE
    ${torch_prefix}/lib/libtorch.so ${torch_prefix}/lib/libtorch_cpu.so ${torch_prefix}/lib/libc10.so
    # Nothing names what is in it; that it is loaded is what registers the devices.
    -Wl,--push-state,--no-as-needed,${torch_prefix}/lib/libtorch_cuda.so,--pop-state)
else()
  find_package(Torch REQUIRED)
endif()
# LibTorch has headers of an fmt of its own beside its others, and no library of it.
target_compile_definitions(torch INTERFACE FMT_HEADER_ONLY)
