#include "tools/stored_run.hpp"

#include "engine/store/run_folder.hpp"

namespace clade {

expected<opened_run> open_stored_run(const std::string& name) {
  return find_store(name).and_then([](const std::filesystem::path& file) {
    return store::open_to_read(file).and_then([&](store s) {
      return s.hold().map([&] { return opened_run{.s = std::move(s), .file = file}; });
    });
  });
}

} // namespace clade
