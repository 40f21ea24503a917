#pragma once

#include "engine/training/parallel/common/ordered_sum.hpp"
#include "engine/training/parallel/common/team_session.hpp"
#include "engine/training/parallel/parted/kept_position.hpp"

#include <memory>
#include <optional>

namespace clade {

/// Elements [begin, end) of a parameter or buffer, in the order in which they lie in
/// memory, and the member that has them.
struct part {
  static constexpr std::size_t everyone = ~std::size_t{0};

  std::size_t tensor = 0; ///< In `network_module::state`.
  std::int64_t begin = 0, end = 0;
  std::size_t owner = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  friend bool operator==(const part&, const part&) = default;
};

/// The steps of a member of a team that has parts of the network's state alone, and of
/// what belongs to it: the optimiser's moments, the average, the weights of the best epoch.
///
/// Who is lost takes its parts along. So all members keep the whole position on disk: each
/// its own before the first exchange, and together at the beginning of each epoch and every
/// `handed_over::keep_every`. One member of each machine keeps the last two in files that
/// outlive it; if all members were lost, the next begin at the newest of these. When the
/// team is formed anew, all go back to the newest position that a member has, and the
/// parts are divided over those who are there now (`step_team::newest`). The work that
/// members do alone between two exchanges depends on the number of parts, not of members.
class parted_steps : public training_step, public step_position {
public:
  [[nodiscard]] std::optional<at::Tensor> settle() override {
    keeps_next_ = true;
    return at::Tensor();
  }
  // The whole state is kept together, in files of its own.
  [[nodiscard]] bool is_whole() const override { return false; }
  [[nodiscard]] bool keeps_files() const override { return true; }
  [[nodiscard]] std::optional<loop_position> leave() override;
  [[nodiscard]] std::uint64_t count() const override {
    return optimiser_ ? optimiser_->steps() : first_count_;
  }
  [[nodiscard]] std::vector<at::Tensor> state() const override;
  [[nodiscard]] std::vector<weight_tensor>
  whole(std::span<const at::Tensor> values) override;
  [[nodiscard]] std::vector<weight_tensor> moments() override;
  void go_on_after(std::uint64_t steps, std::span<const weight_tensor> moments) override;
  [[nodiscard]] const std::shared_ptr<team_session>& session() const { return session_; }

protected:
  /// A part that this member has. `values`, and what is made like them, may have more
  /// elements in front of it and behind it.
  struct own_part {
    part which;
    at::Tensor values;
    std::int64_t in_front = 0;

    [[nodiscard]] std::span<float> in(const at::Tensor& like_values) const;
  };

  parted_steps(network_module& net, const step_rules& rules, team& members,
               handed_over state);

  /// All parts, in the order of tensors, and of elements in them.
  [[nodiscard]] virtual std::vector<part> divide(std::size_t members) const = 0;
  /// Makes `values` of a part that is this member's from now on; they are filled then.
  [[nodiscard]] virtual own_part make_own(const part& p) const = 0;
  /// The state of a former team is void, and memory of the network may be given back; own
  /// parts are made then.
  virtual void begin_anew() = 0;

  /// There will be no more steps: gives back what the optimiser keeps.
  void end_steps();

  /// Does `work` with all members; throws `team_broken` where they are others than before,
  /// whatever `work` had done.
  void together(const std::function<void(links&)>& work) { session_->together(work); }
  /// If an epoch has begun, keeps its position; before each step.
  void keep_if_due();
  /// Values of all parts of a tensor, of which this member's own are in `own`, for all.
  void gather(links& l, std::size_t tensor, const tensor_list& own,
              std::span<float> into) const;
  /// One step down the gradients of the own parts, `values.grad()`.
  void take_step(links& l, double learning_rate);
  /// Everybody gets the losses, of which each has its own, from the member that `owner`
  /// names, and whether the time is up or a position is due, as member 0 has it.
  void gather_losses(links& l, std::span<float> losses,
                     const std::function<std::size_t(std::size_t)>& owner);

  [[nodiscard]] std::size_t shares() const { return session_->shares(); }
  [[nodiscard]] bool is_parameter(std::size_t tensor) const;
  [[nodiscard]] std::span<const own_part> own() const { return own_; }
  [[nodiscard]] std::size_t members() const { return session_->members(); }
  /// Returns the values of `own`.
  [[nodiscard]] const tensor_list& own_values() const { return own_values_; }

  network_module& net_;
  step_rules rules_;

private:
  [[nodiscard]] position_of_others meet(links& l, std::uint64_t& done);
  void keep_first();
  [[nodiscard]] bool load_kept();
  void store_kept();
  void send_kept(links& l, std::size_t giver);
  void take_parts();
  [[nodiscard]] loop_tensors kept_tensors() const;
  [[nodiscard]] tensor_list read_parts(kept_position::row r) const;
  void write_row(links& l, kept_position& to, kept_position::row r,
                 const tensor_list& own) const;
  [[nodiscard]] tensor_list own_moments(bool first) const;
  [[nodiscard]] at::Tensor whole_norm(links& l) const;
  /// Weights, and what does not decay, as the optimiser has them.
  [[nodiscard]] std::vector<std::vector<std::size_t>> parameters_by_group() const;

  handed_over handed_;
  std::shared_ptr<team_session> session_;
  std::shared_ptr<const kept_position> kept_;
  bool keeps_next_ = false;
  std::chrono::steady_clock::time_point kept_at_ = std::chrono::steady_clock::now(),
                                        stored_at_ = kept_at_;
  std::uint64_t stored_ = 0;           ///< The version that is in a file.
  std::vector<std::uint64_t> offsets_; ///< The offset of each tensor in a row of all.
  std::vector<part> parts_;
  /// The first part of each tensor; one more for the end.
  std::vector<std::size_t> first_part_;
  std::vector<own_part> own_;
  tensor_list own_values_;
  std::vector<std::size_t> trained_; ///< The tensors of `own_` that the optimiser has.
  std::optional<optimiser> optimiser_;
  std::uint64_t first_count_ = 0;
  std::vector<weight_tensor> first_moments_; ///< Until they are kept.
};

/// The values of a dense tensor, in the order in which they lie in memory. They may be
/// written without autograd's knowledge: what it saved of the tensor stays valid.
[[nodiscard]] std::span<float> memory_of(const at::Tensor& t);

/// Gives back the memory of a tensor's values, or takes memory for them again, whose
/// values are any. The tensor, and what autograd saved of it, stay as they are.
void release_memory(const at::Tensor& t);
void restore_memory(const at::Tensor& t);

} // namespace clade
