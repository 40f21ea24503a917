#pragma once

#include "engine/evaluation/command/command.hpp"
#include "genome/base/unique_fd.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Returns the object that a program reads of this candidate from standard input:
///
///     {"candidate": 12, "seed": 1804289383, "epochs": 1,
///      "hyperparameters": {"learning_rate": 0.01, ...},
///      "genome": {"layers": [{"op": "dense", "settings": {"units": 32}, "inputs": [0]}],
///                 "output": {"inputs": [1], "settings": {}}}}
///
/// "inputs" number what enters a layer: 0 is the input, 1 the first layer. A layer that has
/// recurrent edges has "recurrent": [{"input": 2, "steps": 3}] for what layer 2 said three
/// steps before. "seed" is the same for equal networks of a run.
[[nodiscard]] std::string command_input(const job& j);

/// A folder of this process for the folders of its candidates, in TMPDIR, removed with
/// it. Folders that processes that were killed have left there are removed when another
/// is made.
class work_folders {
public:
  [[nodiscard]] static expected<work_folders> make();
  work_folders(work_folders&&) = default;
  work_folders& operator=(work_folders&&) = default;
  ~work_folders();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  work_folders(std::filesystem::path path, unique_fd lock)
      : path_(std::move(path)),
        lock_(std::move(lock)) {}

  std::filesystem::path path_;
  unique_fd lock_; ///< Says that this process lives.
};

/// One candidate's own folder while its program runs, and what the program is told of it.
/// Each of these is a placeholder, {genome_file}, and a variable, CLADE_GENOME_FILE:
///
///     candidate, seed, epochs     as the program reads them from standard input
///     start_epoch                 epochs that it has behind it, by its checkpoint
///     cores                       how many it may use
///     work_folder                 the folder itself
///     genome_file                 "genome" as above, JSON
///     python_file, onnx_file      its network with initial weights (program_host.hpp),
///                                 where [command] names it
///     params_file                 {"learning_rate": 0.01, ...}
///     checkpoint_folder           what it needs to go on, if [command] checkpoints
///     tensorboard_folder          for what TensorBoard reads
///     report_file                 lines of JSON that it appends count as metrics
///
/// A hyperparameter is {learning_rate} and CLADE_PARAM_LEARNING_RATE; one that does not
/// apply to a candidate is empty and not set.
class candidate_files {
public:
  /// Makes the folder in `all`, with the checkpoint that the job starts from. `setup` must
  /// outlive it. An error of kind io is this machine's.
  [[nodiscard]] static expected<candidate_files>
  make(const work_folders& all, const command_setup& setup, const job& j);
  candidate_files(candidate_files&& other) noexcept;
  candidate_files& operator=(candidate_files&&) = delete;
  ~candidate_files();

  /// The program's words and variables, and what is to be read of it.
  [[nodiscard]] std::vector<std::string> command() const;
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] std::filesystem::path directory() const;
  /// Epochs that it has behind it, by its checkpoint.
  [[nodiscard]] std::uint32_t start_epoch() const { return start_epoch_; }
  /// Returns the file of `metrics` if it is one.
  [[nodiscard]] std::filesystem::path metrics_file() const;
  [[nodiscard]] std::filesystem::path checkpoint_folder() const {
    return folder_ / "checkpoint";
  }
  [[nodiscard]] std::filesystem::path tensorboard_folder() const {
    return folder_ / "tensorboard";
  }
  [[nodiscard]] std::filesystem::path report_file() const {
    return folder_ / "reports.jsonl";
  }

private:
  candidate_files(std::filesystem::path folder, const command_setup& setup)
      : folder_(std::move(folder)),
        setup_(&setup) {}

  expected<void> write(const job& j);
  /// Whether `run` or `environment` has that word in braces.
  [[nodiscard]] bool is_named(const std::string& word) const;
  expected<void> write_network(const std::string& word, network_format format,
                               const job& j);
  [[nodiscard]] std::string filled(std::string_view text) const;

  std::filesystem::path folder_;
  const command_setup* setup_;
  std::uint32_t start_epoch_ = 0;
  std::map<std::string, std::string> values_; ///< The values of the words above.
  /// The hyperparameters that apply.
  std::map<std::string, std::string> hyperparameters_;
};

/// The words above, as check_placeholders names them.
[[nodiscard]] const std::vector<std::string>& placeholder_words();

} // namespace clade
