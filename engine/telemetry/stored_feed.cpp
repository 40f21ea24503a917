#include "engine/telemetry/stored_feed.hpp"

#include "engine/telemetry/stored_picture.hpp"

#include <thread>

namespace clade {

namespace {

class stored_feed final : public feed {
public:
  stored_feed(store opened, run_view view, run_picture picture)
      : store_(std::move(opened)),
        view_(std::move(view)),
        picture_(std::move(picture)) {}

  std::string showing() const override { return view_.state(); }
  std::string name() const override { return view_.name; }
  const run_picture& picture() const override { return picture_; }
  const slots_view& slots() const override { return slots_; }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    std::this_thread::sleep_for(most);
    return std::vector<news>{};
  }
  int descriptor() const override { return -1; }

  expected<genome_view> candidate(candidate_id id) override {
    return view_genome(store_, id);
  }
  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    return store_.rows(after, count);
  }

private:
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
  return std::make_unique<stored_feed>(std::move(*opened), std::move(*view),
                                       std::move(*picture));
}

} // namespace clade
