#include "tests/tools/views/still_feed.hpp"

namespace clade::test {

still_feed::still_feed(run_picture picture, slots_view slots)
    : picture_(std::move(picture)),
      slots_(std::move(slots)) {}

expected<std::vector<news>> still_feed::wait(std::chrono::milliseconds) {
  if (next_ < steps.size())
    steps[next_++](picture_);
  else
    shows = feed_state::finished;
  return std::vector<news>{restarted{}};
}

expected<genome_view> still_feed::candidate(candidate_id id) {
  for (const auto& one : known)
    if (one.born.id == id)
      return one;
  return fail(error_kind::not_found, "no #" + std::to_string(id));
}

expected<std::vector<candidate_row>> still_feed::candidates(candidate_id, std::size_t) {
  return std::vector<candidate_row>{};
}

} // namespace clade::test
