#include "engine/telemetry/feeds/stored_feed.hpp"

#include "engine/telemetry/picture/stored_picture.hpp"

#include <thread>

namespace clade {

namespace {

class stored_feed final : public feed {
public:
  stored_feed(const std::filesystem::path& file, store opened, run_view view,
              run_picture picture)
      : file_(file),
        store_(std::move(opened)),
        view_(std::move(view)),
        picture_(std::move(picture)) {}

  feed_state showing() const override { return feed_state_of(view_.state()); }
  std::string name() const override { return view_.name; }
  const run_picture& picture() const override { return picture_; }
  const slots_view& slots() const override { return slots_; }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    // Others may write notes meanwhile.
    std::vector<news> came;
    if (auto read = read_further(came); !read)
      return tl::unexpected(read.error());
    if (!came.empty())
      return came;
    std::this_thread::sleep_for(most);
    return came;
  }
  int descriptor() const override { return -1; }

  expected<genome_view> candidate(candidate_id id) override {
    return view_genome(store_, id);
  }
  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    return store_.rows(after, count);
  }

  bool takes_annotations() const override { return true; }
  /// Writes a note or a tag into the store; `wait` then tells of it.
  expected<void> tell(const operator_command& order) override {
    if (!annotates(order.order))
      return feed::tell(order);
    if (auto right = check_annotation(order.order, picture_.annotated, picture_.born);
        !right)
      return right;
    const entry written{order, {}};
    return store::open(file_).and_then([&](store s) {
      return s.append({&written, 1}).map([](const store::place&) {});
    });
  }

private:
  expected<void> read_further(std::vector<news>& came) {
    return store_.for_each(
        [&](std::uint64_t sequence, std::int64_t unix_ms, const record& r) {
          return apply(picture_, unix_ms, r).map([&] {
            came.emplace_back(record_event{sequence, unix_ms, r});
          });
        },
        picture_.sequence);
  }

  std::filesystem::path file_;
  store store_;
  run_view view_;
  run_picture picture_;
  slots_view slots_;
};

} // namespace

expected<std::unique_ptr<feed>>
open_stored_feed(const std::filesystem::path& store_file) {
  auto opened = store::open_to_read(store_file);
  if (!opened)
    return tl::unexpected(opened.error());
  auto view = view_run(*opened, store_file);
  if (!view)
    return tl::unexpected(view.error());
  auto picture = read_picture(*opened);
  if (!picture)
    return tl::unexpected(picture.error());
  return std::make_unique<stored_feed>(store_file, std::move(*opened), std::move(*view),
                                       std::move(*picture));
}

} // namespace clade
