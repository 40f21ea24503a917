#include "engine/training/final/module.hpp"

#include "engine/training/asked/training_params.hpp"
#include "engine/training/final/device_work.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

// The module stays open for the life of the process: LibTorch registers operators and
// threads when it is loaded and cannot be taken out again.

namespace clade {

expected<void> find_training(const std::filesystem::path& module) {
  std::error_code ignored;
  if (std::filesystem::exists(module, ignored))
    return {};
  return fail(error_kind::not_found,
              fmt::format("this build has no LibTorch: {} is not there; CLADE_TORCH=ON "
                          "tools/clade builds with it",
                          module.string()));
}

expected<void*> find_symbol(const std::filesystem::path& module, const char* name) {
  if (auto found = find_training(module); !found)
    return tl::unexpected(std::move(found).error());
  void* handle = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    return fail(error_kind::not_found,
                "cannot load the training module: " + std::string(::dlerror()));
  void* symbol = ::dlsym(handle, name);
  if (symbol == nullptr)
    return fail(
        error_kind::conflict,
        fmt::format("{} is no training module: it has no {}", module.string(), name));
  return symbol;
}

namespace {

tl::unexpected<error> of_another_build(const std::filesystem::path& module) {
  return fail(error_kind::conflict,
              module.string() + " is of another build than this program; build again");
}

/// `Product` by the module's function of type `Make`.
template<class Product, class Make>
expected<std::unique_ptr<Product>> make_by(const std::filesystem::path& module,
                                           const char* name,
                                           const training_setup& setup) {
  const auto symbol = enter_arithmetic(setup.training.arithmetic).and_then([&] {
    return find_symbol(module, name);
  });
  if (!symbol)
    return tl::unexpected(symbol.error());
  const auto make = reinterpret_cast<Make>(*symbol);
  expected<std::unique_ptr<Product>> made;
  if (!make({.version = training_module_version, .setup_bytes = sizeof(training_setup)},
            setup, made))
    return of_another_build(module);
  return made;
}

} // namespace

expected<std::unique_ptr<fitness_function>>
load_training(const std::filesystem::path& module, const training_setup& setup) {
  return make_by<fitness_function, make_training_function>(module, training_module_symbol,
                                                           setup);
}

expected<std::unique_ptr<zero_cost_scorer>>
load_zero_cost_scorer(const std::filesystem::path& module, const training_setup& setup) {
  return make_by<zero_cost_scorer, make_zero_cost_function>(module, zero_cost_symbol,
                                                            setup);
}

expected<loaded_device_work> load_device_work(const std::filesystem::path& module,
                                              const std::string& device) {
  return find_symbol(module, device_work_symbol)
      .and_then([&](void* symbol) -> expected<loaded_device_work> {
        loaded_device_work made;
        if (!reinterpret_cast<make_device_work_function>(symbol)(training_module_version,
                                                                 device, made))
          return of_another_build(module);
        return made;
      });
}

} // namespace clade
