#pragma once

#include "tools/doctor/finding.hpp"
#include "tools/machine/slots.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace clade {

/// The report of a process on one slot once LibTorch is loaded there.
struct device_report {
  std::string torch;     ///< Its version.
  std::string cuda;      ///< That it is built for; empty: for the CPU alone.
  double per_second = 0; ///< Operations, in products of matrices.
  std::string failure{}; ///< Why it computes nothing; empty: it computes.
};

[[nodiscard]] std::string to_json(const device_report& r);
[[nodiscard]] expected<device_report> parse_device_report(std::string_view json);

/// Does the work of the process of one slot: it loads LibTorch, writes its report to
/// standard output, a line, and then, for each byte of standard input, does the same work
/// again and writes a line when it is done. Ends with its input, and returns an exit
/// status.
[[nodiscard]] int serve_products(const std::string& device,
                                 const std::filesystem::path& module);

/// How long two slots take for the same work.
struct parallel_times {
  double in_turns = 0; ///< Seconds, one after the other.
  double at_once = 0;  ///< Until both are done.
};

/// `which`: "cpu:0, cpu:1".
[[nodiscard]] finding judge(const parallel_times& t, const std::string& which);

/// Says whether LibTorch and the driver fit the GPUs; nothing where there are none.
/// `driver`: the latest CUDA that it supports, "13.0"; empty: it does not say.
[[nodiscard]] std::optional<finding>
judge_driver(const device_report& r, std::size_t gpus, const std::string& driver);

/// Starts this program for each slot, as `serve_products`: LibTorch, the driver, a
/// product on each device, and whether two slots take as long at once as one alone.
/// Blocks for some seconds.
[[nodiscard]] std::vector<finding> check_devices(const std::vector<slot>& slots);

} // namespace clade
