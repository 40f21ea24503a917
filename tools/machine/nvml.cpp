#include "tools/machine/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

// The few functions of NVML that are needed, declared by hand from its documentation:
// they and their versions do not change, and neither building nor running needs CUDA.
// Pointers to its types are void*: UBSan compares a function's type with that of the
// call.

namespace clade {

namespace {

struct nvml_memory {
  unsigned long long total, free, used;
};

enum nvml_status : int { success = 0, not_supported = 3, no_permission = 4 };

constexpr unsigned longest_text = 96; ///< NVML_DEVICE_{UUID,NAME}_V2_BUFFER_SIZE

struct close_library {
  void operator()(void* library) const { ::dlclose(library); }
};

class nvml {
public:
  explicit nvml(std::string file, void* library)
      : file_(std::move(file)),
        library_(library) {}

  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  ~nvml() {
    if (shutdown_ != nullptr)
      shutdown_();
  }

  expected<void> start() {
    return call<>("nvmlInit_v2", success).map([&](nvml_status) {
      shutdown_ = reinterpret_cast<int (*)()>(::dlsym(library_.get(), "nvmlShutdown"));
    });
  }

  /// 13000 is CUDA 13.0.
  expected<int> driver_cuda() {
    int version = 0;
    return call<int*>("nvmlSystemGetCudaDriverVersion_v2", success, &version)
        .map([&](nvml_status) { return version; });
  }

  expected<std::vector<gpu>> read() {
    unsigned count = 0;
    if (auto ok = call<unsigned*>("nvmlDeviceGetCount_v2", success, &count); !ok)
      return tl::unexpected(ok.error());
    std::vector<gpu> gpus;
    for (unsigned i = 0; i < count; ++i) {
      void* device = nullptr;
      const auto opened = call<unsigned, void**>("nvmlDeviceGetHandleByIndex_v2",
                                                 no_permission, i, &device);
      if (!opened)
        return tl::unexpected(opened.error());
      // A scheduler that gave us some of the GPUs only; CUDA does not count them either.
      if (*opened == no_permission)
        continue;
      auto g = describe(device);
      if (!g)
        return tl::unexpected(g.error());
      g->index = static_cast<unsigned>(gpus.size());
      gpus.push_back(std::move(*g));
    }
    return gpus;
  }

private:
  expected<gpu> describe(void* device) {
    char uuid[longest_text] = {}, name[longest_text] = {};
    nvml_memory memory{};
    if (auto ok = call<void*, char*, unsigned>("nvmlDeviceGetUUID", success, device, uuid,
                                               longest_text);
        !ok)
      return tl::unexpected(ok.error());
    if (auto ok = call<void*, char*, unsigned>("nvmlDeviceGetName", success, device, name,
                                               longest_text);
        !ok)
      return tl::unexpected(ok.error());
    // A GPU that shares the machine's memory does not know.
    if (auto ok =
            call<void*, void*>("nvmlDeviceGetMemoryInfo", not_supported, device, &memory);
        !ok)
      return tl::unexpected(ok.error());
    return gpu{.uuid = uuid,
               .name = name,
               .total_bytes = memory.total,
               .free_bytes = memory.free};
  }

  /// Calls a function; one answer beside success may be no error.
  template<class... Ts>
  expected<nvml_status> call(const char* name, nvml_status accepted, Ts... arguments) {
    auto* function = reinterpret_cast<int (*)(Ts...)>(::dlsym(library_.get(), name));
    if (function == nullptr)
      return fail(error_kind::io, fmt::format("{} has no {}", file_, name));
    const int status = function(arguments...);
    if (status == success || status == accepted)
      return static_cast<nvml_status>(status);
    auto* words = reinterpret_cast<const char* (*)(int)>(
        ::dlsym(library_.get(), "nvmlErrorString"));
    return fail(error_kind::io,
                fmt::format("{}: {}: {}", file_, name,
                            words != nullptr ? words(status) : std::to_string(status)));
  }

  std::string file_;
  std::unique_ptr<void, close_library> library_;
  int (*shutdown_)() = nullptr;
};

/// Null: this machine has no such library.
expected<std::unique_ptr<nvml>> open_nvml() {
  const char* other = std::getenv("CLADE_NVML");
  const std::string file = other != nullptr ? other : "libnvidia-ml.so.1";
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && other != nullptr)
    return fail(error_kind::not_found, std::string("CLADE_NVML: ") + ::dlerror());
  if (library == nullptr)
    return nullptr;
  auto opened = std::make_unique<nvml>(file, library);
  if (auto started = opened->start(); !started)
    return tl::unexpected(started.error());
  return opened;
}

} // namespace

expected<std::vector<gpu>> read_gpus() {
  return open_nvml().and_then([](const auto& library) -> expected<std::vector<gpu>> {
    return library ? library->read() : std::vector<gpu>{};
  });
}

expected<std::string> read_driver_cuda() {
  return open_nvml().and_then([](const auto& library) -> expected<std::string> {
    if (!library)
      return std::string();
    return library->driver_cuda().map([](int version) {
      return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    });
  });
}

} // namespace clade
