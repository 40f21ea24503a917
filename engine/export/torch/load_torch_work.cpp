#include "engine/export/torch/torch_work.hpp"
#include "engine/training/final/module.hpp"

namespace clade {

expected<std::unique_ptr<torch_work>>
load_torch_work(const std::filesystem::path& module) {
  const auto symbol = find_symbol(module, torch_work_symbol);
  if (!symbol)
    return tl::unexpected(symbol.error());
  const auto make = reinterpret_cast<make_torch_work_function>(*symbol);
  std::unique_ptr<torch_work> made;
  if (!make({}, made))
    return fail(error_kind::conflict,
                module.string() + " is of another build than this program; build again");
  return made;
}

} // namespace clade
