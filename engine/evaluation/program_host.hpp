#pragma once

#include "genome/base/error.hpp"
#include "genome/codec/codec.hpp"
#include "search_spaces/operators/network.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

/// How a network that nobody has trained yet goes to a program.
enum class network_format : std::uint8_t { python, onnx };

/// A network to be written, with the initial weights of a seed.
struct untrained_network {
  const network& layers;
  const clade::problem& problem;
  std::uint64_t seed = 0;
};

/// A file by its name in a folder that all of them go to.
struct named_file {
  std::string name;
  bytes content;
};

/// Writes such a network; the first file is the network, the others are what it reads.
/// (engine/export has one.)
using network_writer = std::function<expected<std::vector<named_file>>(
    network_format, const untrained_network&)>;

/// The means of a node process for the programs that it runs.
struct program_host {
  network_writer write_network{}; ///< Unset: none is to be had.
  /// Folders that programs are kept from, such as those of the run's keys.
  std::vector<std::filesystem::path> hidden{};
  /// Prepares the control group below which each program gets its own (program_group.hpp),
  /// and returns it; unset, or an error: there is none.
  std::function<expected<std::filesystem::path>()> groups{};
};

} // namespace clade
