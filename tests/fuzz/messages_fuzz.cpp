// A message that a peer sends is refused or becomes one that is sent with bytes that give
// the same. An input is "clade::results", say, a space and bytes of such a message; any
// other is taken for what a peer really sends, messages that name their own types.
#include "tests/fuzz/law.hpp"
#include "tests/fuzz/messages.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

void check(std::string_view bytes, const caf::actor_system_config::value_factory& make) {
  const auto first = make(), second = make();
  if (!load(bytes, *first))
    return;
  const auto sent = save(*first);
  hold(sent.has_value(), "a message can be sent");
  hold(load(*sent, *second), "what is sent can be received");
  hold(save(*second) == sent, "what is received is the same");
}

/// CAF's own types are left alone: it never ends sending an infinite number that it
/// receives.
bool is_ours(const caf::message& m) {
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m.type(i).first != 0 || m.stringify(i).find("inf") != std::string::npos)
      return false;
  return true;
}

void check_any(std::string_view bytes) {
  caf::message first, second;
  if (!load(bytes, first) || !is_ours(first))
    return;
  const auto sent = save(first);
  hold(sent.has_value(), "a message can be sent");
  hold(load(*sent, second), "what is sent can be received");
  hold(save(second) == sent, "what is received is the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = text_of(data, size);
  const auto space = std::min(input.find(' '), input.size());
  const auto kind = message_kinds().find(input.substr(0, space));
  if (kind == message_kinds().end())
    check_any(input);
  else
    check(input.substr(std::min(space + 1, input.size())), kind->second);
  return 0;
}
