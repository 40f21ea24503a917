#include "actors/messages/protocol.hpp"

#include "genome/codec/codec.hpp"

namespace clade {

std::vector<ancestor> ancestors_of(const lineage& l) {
  std::vector<ancestor> all;
  for (const auto& c : l.before)
    all.push_back({.id = c.id,
                   .genome = encode(*c.genome),
                   .epochs = c.epochs,
                   .start = c.start,
                   .start_epoch = c.start_epoch});
  return all;
}

const char* to_text(blob_part part) {
  switch (part) {
  case blob_part::weights:
    return "weights";
  case blob_part::checkpoint:
    return "checkpoint";
  case blob_part::members:
    break;
  }
  return "members";
}

const blob* blob_of(const assignment& a, blob_part part) {
  if (const auto* training = std::get_if<training_task>(&a.what))
    return part == blob_part::checkpoint ? &training->network.checkpoint : nullptr;
  if (const auto* test = std::get_if<test_task>(&a.what))
    return part == blob_part::weights      ? &test->weights
           : part == blob_part::checkpoint ? &test->network.checkpoint
                                           : nullptr;
  const auto* composition = std::get_if<composition_task>(&a.what);
  return composition != nullptr && part == blob_part::members ? &composition->members
                                                              : nullptr;
}

blob* blob_of(assignment& a, blob_part part) {
  return const_cast<blob*>(blob_of(std::as_const(a), part));
}

const blob* blob_of(const result& r, blob_part part) {
  const auto* trained = std::get_if<training_result>(&r.what);
  if (trained == nullptr || part == blob_part::members)
    return nullptr;
  return part == blob_part::weights ? &trained->weights : &trained->checkpoint;
}

void add_message_types(caf::actor_system_config& config) {
  config.add_message_type<node_hello>("clade::node_hello");
  config.add_message_type<node_welcome>("clade::node_welcome");
  config.add_message_type<node_ready>("clade::node_ready");
  config.add_message_type<assignments>("clade::assignments");
  config.add_message_type<results>("clade::results");
  config.add_message_type<taken>("clade::taken");
  config.add_message_type<epoch_passed>("clade::epoch_passed");
  config.add_message_type<heartbeat>("clade::heartbeat");
  config.add_message_type<heartbeat_answer>("clade::heartbeat_answer");
  config.add_message_type<leaving>("clade::leaving");
  config.add_message_type<may_leave>("clade::may_leave");
  config.add_message_type<fetch_chunk>("clade::fetch_chunk");
  config.add_message_type<chunk>("clade::chunk");
  config.add_message_type<fetch_piece>("clade::fetch_piece");
  config.add_message_type<piece>("clade::piece");
  config.add_message_type<piece_taken>("clade::piece_taken");
  config.add_message_type<team_formed>("clade::team_formed");
  config.add_message_type<team_passed>("clade::team_passed");
  config.add_message_type<leave>("clade::leave");
  config.add_message_type<link_actor>("clade::link_actor");
  config.add_message_type<dispatcher_actor>("clade::dispatcher_actor");
}

} // namespace clade
