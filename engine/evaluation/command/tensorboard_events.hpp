#pragma once

#include "engine/search/core/candidate.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Follows the event files of TensorBoard in a folder and below, while a program writes
/// them. Total: any bytes are read or passed over.
///
/// The meaning of a step is the program's own: the number of an epoch from 0 or from 1,
/// or of a batch. So one scalar says when an epoch has ended: its n-th step is epoch n.
class followed_events {
public:
  using step_listener = std::function<void(std::vector<metric> values)>;

  /// `on_step` hears of each step of the scalar `told_by`: with it, the latest value of
  /// each other scalar up to that step; sorted by name, finite ones alone.
  followed_events(std::filesystem::path folder, std::string told_by,
                  step_listener on_step)
      : folder_(std::move(folder)),
        told_by_(std::move(told_by)),
        on_step_(std::move(on_step)) {}

  /// Reads what has been added.
  void look();

  /// Puts the value of each scalar's latest step into the evaluation's metrics, named by
  /// its tag. No scalars make it invalid, as does a file that cannot be read; one that is
  /// not finite, diverged.
  void answer(evaluation& e) const;

private:
  struct value_at {
    std::int64_t step = 0;
    double value = 0;
  };
  /// The steps of one scalar: its latest step and the one before.
  struct scalar {
    value_at last, before;
    bool has_before = false;
  };
  /// The part of a file that has been read, and the bytes behind it that are no whole
  /// record.
  struct file_state {
    std::uint64_t at = 0;
    std::string rest{};
    bool damaged = false;
  };

  void read_new(const std::filesystem::path& file);
  void read_records(file_state& state);
  void read_event(std::string_view data);
  void take(const std::string& tag, value_at v);
  void tell();

  std::filesystem::path folder_;
  std::string told_by_;
  step_listener on_step_;
  std::map<std::filesystem::path, file_state> files_;
  std::map<std::string, scalar> scalars_;
  bool untold_ = false; ///< There is a step of `told_by_` that nobody has heard of.
  std::string trouble_;
};

} // namespace clade
