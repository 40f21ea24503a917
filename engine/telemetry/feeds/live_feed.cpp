// Whether a head is there, the store's lock says.
#include "engine/telemetry/feeds/live_feed.hpp"

#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "engine/telemetry/feeds/followed_head.hpp"
#include "engine/telemetry/feeds/stored_feed.hpp"

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// How often it is looked whether the head went, or came.
constexpr auto look_interval = 250ms;

class following_feed final : public feed {
public:
  explicit following_feed(std::filesystem::path store_file)
      : file_(std::move(store_file)) {}

  expected<void> begin() {
    if (writer_of(file_) && follow())
      return {};
    return rest();
  }

  feed_state showing() const override {
    return stored_ ? stored_->showing() : feed_state::live;
  }
  std::string name() const override { return stored_ ? stored_->name() : head_->name(); }
  const run_picture& picture() const override {
    return stored_ ? stored_->picture() : head_->picture();
  }
  const slots_view& slots() const override {
    return stored_ ? stored_->slots() : head_->slots();
  }
  int descriptor() const override { return head_ ? head_->descriptor() : -1; }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    std::vector<news> came;
    const auto until = clock::now() + most;
    do {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
      const auto step = std::clamp<std::chrono::milliseconds>(left, 0ms, look_interval);
      if (head_) {
        head_->take(step, came);
      } else {
        auto waited = stored_->wait(step);
        if (!waited)
          return waited;
        std::ranges::move(*waited, std::back_inserter(came));
      }
      if (auto looked = look(came); !looked)
        return tl::unexpected(looked.error());
    } while (came.empty() && clock::now() < until);
    return came;
  }

  expected<genome_view> candidate(candidate_id id) override {
    if (stored_)
      return stored_->candidate(id);
    return reader().and_then([&](const store* s) { return view_genome(*s, id); });
  }

  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    if (stored_)
      return stored_->candidates(after, count);
    return reader().and_then([&](const store* s) { return s->rows(after, count); });
  }

  bool takes_orders() const override { return head_.has_value(); }
  bool takes_annotations() const override {
    return head_ || stored_->takes_annotations();
  }
  expected<void> tell(const operator_command& order) override {
    return head_ ? head_->tell(order) : stored_->tell(order);
  }

private:
  /// Returns the store, which can be read on this machine; so a head that ends, or is
  /// busy, keeps no answer back.
  expected<const store*> reader() {
    if (!reader_) {
      auto opened = store::open_to_read(file_);
      if (!opened)
        return tl::unexpected(opened.error());
      reader_.emplace(std::move(*opened));
    }
    return &*reader_;
  }

  /// Goes over to the head, if it answers.
  bool follow() {
    auto head = subscription::open(file_.parent_path() / live_folder_name)
                    .and_then([](std::unique_ptr<subscription> s) {
                      return followed_head::follow(std::move(s));
                    });
    if (!head)
      return false;
    head_ = std::move(*head);
    stored_.reset();
    return true;
  }

  expected<void> rest() {
    auto opened = open_stored_feed(file_);
    if (!opened)
      return tl::unexpected(opened.error());
    stored_ = std::move(*opened);
    head_.reset();
    return {};
  }

  /// Reads what the head recorded at its end and did not send any more.
  expected<void> read_rest(std::vector<news>& came) {
    auto opened = store::open_to_read(file_);
    if (!opened)
      return tl::unexpected(opened.error());
    return opened->for_each(
        [&](std::uint64_t sequence, std::int64_t unix_ms,
            const record& r) -> expected<void> {
          came.emplace_back(record_event{sequence, unix_ms, r});
          return {};
        },
        head_->picture().sequence);
  }

  /// Whether there is a head now.
  expected<void> look(std::vector<news>& came) {
    const auto now = clock::now();
    if (now < next_look_)
      return {};
    next_look_ = now + look_interval;
    const bool writes = writer_of(file_).has_value();
    if (head_ && !writes) {
      if (auto rested = read_rest(came); !rested)
        return rested;
      return rest();
    }
    if (!head_ && writes && follow())
      came.emplace_back(std::in_place_type<restarted>);
    return {};
  }

  std::filesystem::path file_;
  std::optional<store> reader_;
  std::optional<followed_head> head_;
  std::unique_ptr<feed> stored_; ///< Either is there.
  clock::time_point next_look_{};
};

} // namespace

expected<std::unique_ptr<feed>> open_feed(const std::filesystem::path& store_file) {
  auto made = std::make_unique<following_feed>(store_file);
  return made->begin().map([&]() -> std::unique_ptr<feed> { return std::move(made); });
}

} // namespace clade
