// Records are read from the store in pieces. Pauses in which no head was at work are left
// out: behind each `run_resumed` time goes on at once.
#include "engine/telemetry/feeds/replay_feed.hpp"

#include "engine/store/run/store.hpp"
#include "genome/base/text.hpp"

#include <cmath>
#include <deque>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t piece = 4096; // records
// The number of records that views are given at once, so that they stay in time with the
// keyboard.
constexpr std::size_t given_at_once = 512;

class replay_feed final : public feed {
public:
  replay_feed(store opened, run_view view, const replay_params& params)
      : store_(std::move(opened)),
        view_(std::move(view)),
        params_(params) {}

  /// Folds what is before the first generation.
  expected<void> begin() {
    while (true) {
      if (auto read = fill(); !read)
        return read;
      if (waiting_.empty() || begins(waiting_.front()))
        break;
      if (auto folded = take(); !folded)
        return tl::unexpected(folded.error());
    }
    if (!waiting_.empty())
      shift(waiting_.front().unix_ms);
    return {};
  }

  feed_state showing() const override {
    return over_ ? feed_state_of(view_.state()) : feed_state::replay;
  }
  std::string name() const override { return view_.name; }
  const run_picture& picture() const override { return picture_; }
  const slots_view& slots() const override { return slots_; }
  int descriptor() const override { return -1; }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    std::vector<news> came;
    const auto until = clock::now() + most;
    while (!over_ && !stopped_ && came.size() < given_at_once) {
      if (auto read = fill(); !read)
        return tl::unexpected(read.error());
      if (waiting_.empty()) {
        over_ = true;
        break;
      }
      if (std::holds_alternative<run_resumed>(waiting_.front().record))
        shift(waiting_.front().unix_ms);
      const auto due = due_at(waiting_.front().unix_ms);
      if (due > clock::now()) {
        // The records that came are shown before the next are waited for.
        if (!came.empty() || clock::now() >= until)
          break;
        std::this_thread::sleep_until(std::min(due, until));
        continue;
      }
      auto taken = take();
      if (!taken)
        return tl::unexpected(taken.error());
      const auto* closed = std::get_if<generation_closed>(&taken->record);
      over_ = closed != nullptr && closed->generation >= params_.to;
      stopped_ = closed != nullptr && params_.steps;
      came.emplace_back(std::move(*taken));
    }
    if ((over_ || stopped_) && came.empty())
      std::this_thread::sleep_until(until);
    return came;
  }

  void step() override {
    stopped_ = false;
    if (!waiting_.empty())
      shift(waiting_.front().unix_ms);
  }

  expected<genome_view> candidate(candidate_id id) override {
    auto found = view_genome(store_, id);
    if (found && id > picture_.born)
      return fail(error_kind::not_found,
                  numbered(id) + " is not born yet in this replay");
    if (found && picture_.open.contains(id))
      found->evaluated.reset();
    return found;
  }

  /// Returns the candidates as they are at this moment of the replay.
  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    return store_.rows(after, count).map([this](std::vector<candidate_row> rows) {
      std::erase_if(rows, [this](const candidate_row& r) {
        return r.born_sequence > picture_.sequence;
      });
      for (auto& r : rows)
        if (r.evaluated_sequence > picture_.sequence) {
          const auto& l = r.line;
          r.line = {.id = l.id,
                    .generation = l.generation,
                    .origin = l.origin,
                    .born_ms = l.born_ms};
          r.evaluated_sequence = 0;
          r.metrics.clear();
        }
      return rows;
    });
  }

private:
  /// Whether the record belongs to what is to be shown as it came.
  bool begins(const record_event& h) const {
    if (params_.from == 0)
      return !std::holds_alternative<run_started>(h.record);
    const auto* born = std::get_if<candidate_born>(&h.record);
    return born != nullptr && born->born.generation >= params_.from;
  }

  expected<void> fill() {
    if (!waiting_.empty() || read_to_ >= store_.size())
      return {};
    // An error that is none ends the reading.
    bool full = false;
    auto read = store_.for_each(
        [&](std::uint64_t sequence, std::int64_t unix_ms,
            const record& r) -> expected<void> {
          waiting_.push_back({sequence, unix_ms, r});
          read_to_ = sequence;
          full = waiting_.size() >= piece;
          return full ? expected<void>(fail(error_kind::conflict, "enough"))
                      : expected<void>();
        },
        read_to_);
    if (!read && !full)
      return read;
    return {};
  }

  expected<record_event> take() {
    auto h = std::move(waiting_.front());
    waiting_.pop_front();
    return apply(picture_, h.unix_ms, h.record).map([&] { return std::move(h); });
  }

  /// From here on this moment of the run is now.
  void shift(std::int64_t unix_ms) {
    start_ms_ = unix_ms;
    start_ = clock::now();
  }

  clock::time_point due_at(std::int64_t unix_ms) const {
    if (std::isinf(params_.speed))
      return start_;
    const std::chrono::duration<double, std::milli> passed(
        static_cast<double>(unix_ms - start_ms_) / params_.speed);
    return start_ + std::chrono::duration_cast<clock::duration>(passed);
  }

  store store_;
  run_view view_;
  replay_params params_;
  run_picture picture_;
  slots_view slots_;
  std::deque<record_event> waiting_;
  std::uint64_t read_to_ = 0;
  std::int64_t start_ms_ = 0;
  clock::time_point start_ = clock::now();
  bool stopped_ = false; ///< At the end of a generation.
  bool over_ = false;
};

} // namespace

expected<std::unique_ptr<feed>> open_replay_feed(const std::filesystem::path& store_file,
                                                 const replay_params& params) {
  auto opened = store::open_to_read(store_file);
  if (!opened)
    return tl::unexpected(opened.error());
  auto view = view_run(*opened, store_file);
  if (!view)
    return tl::unexpected(view.error());
  auto made = std::make_unique<replay_feed>(std::move(*opened), std::move(*view), params);
  return made->begin().map([&]() -> std::unique_ptr<feed> { return std::move(made); });
}

} // namespace clade
