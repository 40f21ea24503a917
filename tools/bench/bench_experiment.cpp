#include "tools/bench/bench_experiment.hpp"

#include "actors/node/process_status.hpp"

#include <fstream>

namespace clade {

expected<std::filesystem::path> write_experiment(const std::filesystem::path& runs,
                                                 const std::string& name,
                                                 const std::filesystem::path& space,
                                                 const std::string& rest) {
  std::error_code failure; // Then the file cannot be written either.
  std::filesystem::create_directories(runs, failure);
  const auto file = runs / (name + ".toml");
  if (!(std::ofstream(file) << "[experiment]\nname = \"" << name
                            << "\"\nseed = 1\nfitness = \"synthetic\"\n"
                               "[search_space]\nfile = \""
                            << std::filesystem::absolute(space).string() << "\"\n"
                            << rest << std::flush))
    return fail(error_kind::io, "cannot write " + file.string());
  return file;
}

double resident_megabytes() {
  return static_cast<double>(status_bytes("VmRSS")) / (1 << 20);
}

} // namespace clade
