#include "engine/training/parallel/common/session_steps.hpp"

#include "engine/collectives/collectives.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace clade {

void session_steps::gather_losses(links& l, std::span<float> losses) {
  const auto most = (losses.size() + l.members() - 1) / l.members();
  std::vector<float> all((most + 1) * l.members());
  const auto of = [&](std::size_t member) { return all.data() + member * (most + 1); };
  const auto own = shares_of(l.own(), l.members(), losses.size());
  of(l.own())[0] = std::chrono::steady_clock::now() > deadline_ ? 1 : 0;
  std::copy_n(losses.begin() + static_cast<std::ptrdiff_t>(own.begin), own.size(),
              of(l.own()) + 1);
  all_gather(l, bytes_of<float>(all));
  for (std::size_t m = 0; m < l.members(); ++m) {
    const auto theirs = shares_of(m, l.members(), losses.size());
    std::copy_n(of(m) + 1, theirs.size(),
                losses.begin() + static_cast<std::ptrdiff_t>(theirs.begin));
  }
  stops_ = of(0)[0] != 0;
}

verdict session_steps::agree(const std::function<verdict()>& decide) {
  std::optional<verdict> decided;
  session_.together([&](links& l) {
    if (l.own() == 0 && !decided)
      decided = decide();
    auto shared = static_cast<std::byte>(decided.value_or(verdict::goes_on));
    broadcast(l, 0, std::span(&shared, 1));
    decided = static_cast<verdict>(shared);
  });
  return *decided;
}

} // namespace clade
