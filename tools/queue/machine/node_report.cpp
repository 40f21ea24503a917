// Each is a msgpack array of its fields in their order (genome/codec/fields.hpp):
//
//   report  = [node, folder, session, first, leaves, [slot ...], [held ...], [end ...], server, seen,
//             program]
//   slot    = [name, device]        held = [entry, [process ...], since if it is known]
//   since   = [ms that it has run, token]
//   entry   = [id, start]           end  = [entry, wait status, reason]
//   program = [protocol, version, unix ms, machine if it is known]
//   process = [pid, parent, cpu seconds, resident bytes, command]
//   orders  = [server, change, [order ...]]
//   order   = [entry, submission, [slot name ...], stopping, token, log bytes]
//
// A submission is as in engine/queue/queue_event.cpp.
#include "tools/queue/machine/node_report.hpp"

#include "genome/codec/fields.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <set>

namespace clade {

namespace {

constexpr std::size_t most_slots = 4096;
constexpr std::size_t longest_text = 256;

} // namespace

static void fields(auto& v, like<queue_slot> auto& s) {
  v("name", s.name);
  v("device", s.device);
}

static void fields(auto& v, like<held_entry> auto& h) {
  v("id", h.id);
  v("start", h.start);
}

static void fields(auto& v, like<held_since> auto& s) {
  v("ran", s.ran);
  v("token", s.token);
}

static void fields(auto& v, like<node_report::held> auto& h) {
  v("entry", h.entry);
  v("processes", h.processes);
  v.last("since", h.since);
}

static void fields(auto& v, like<node_report::end> auto& e) {
  v("entry", e.entry);
  v("wait status", e.wait_status);
  v("reason", e.reason);
}

static void fields(auto& v, like<node_program> auto& p) {
  v("protocol", p.protocol);
  v("version", p.version);
  v("unix ms", p.unix_ms);
  v.last("machine", p.machine);
}

static void fields(auto& v, like<node_report> auto& r) {
  v("node", r.node);
  v("folder", r.folder);
  v("session", r.session);
  v("first", r.first);
  v("leaves", r.leaves);
  v("slots", r.slots);
  v("holds", r.holds);
  v("ended", r.ended);
  v("server", r.server);
  v("seen", r.seen);
  v.last("program", r.program);
}

static void fields(auto& v, like<node_orders::order> auto& o) {
  v("entry", o.entry);
  v("what", o.what);
  v("slots", o.slots);
  v("stopping", o.stopping);
  v("token", o.token);
  v("log bytes", o.log_bytes);
}

static void fields(auto& v, like<node_orders> auto& o) {
  v("server", o.server);
  v("change", o.change);
  v("orders", o.orders);
}

static void check_read(decoder& in, const node_report& r) {
  if (!check_user_name(r.node))
    in.fail("a machine's name has letters, digits, \".\", \"-\" and \"_\", 64 at most");
  if (r.session.empty() || r.session.size() > longest_text)
    in.fail("a session that is none");
  std::set<std::string> names;
  for (const auto& s : r.slots)
    if (s.name.empty() || s.name.size() > longest_text
        || s.name.find('@') != std::string::npos || !names.insert(s.name).second)
      in.fail("a slot that is none");
  if (r.program && r.program->version.size() > longest_text)
    in.fail("a version that is none");
  if (r.program && r.program->machine && r.program->machine->size() > longest_text)
    in.fail("a machine that is none");
  for (const auto& h : r.holds)
    if (h.since && (h.since->ran.count() < 0 || h.since->token.size() > longest_text))
      in.fail("a time below 0, or a token that is none");
  if (r.slots.size() > most_slots)
    in.fail("more than 4096 slots");
}

static error as_input(const error& e) {
  return {error_kind::invalid_input, e.message};
}

bytes encode(const node_report& r) {
  return encoded(r);
}

bytes encode(const node_orders& o) {
  return encoded(o);
}

expected<node_report> decode_node_report(std::span<const char> data) {
  return decoded<node_report>(data).map_error(as_input);
}

expected<node_orders> decode_node_orders(std::span<const char> data) {
  return decoded<node_orders>(data).map_error(as_input);
}

} // namespace clade
