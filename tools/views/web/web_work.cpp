#include "tools/views/web/web_work.hpp"

#include "engine/report/text/json.hpp"
#include "genome/base/json_depth.hpp"
#include "tools/http/answers.hpp"
#include "tools/views/web/orders.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <vector>

namespace clade {

namespace {

/// The feed's thread reads them one after the other and tells nobody anything meanwhile.
constexpr std::size_t most_curves = 50;

/// "3,17,240"
expected<std::vector<candidate_id>> parse_ids(const std::string& text) {
  std::vector<candidate_id> ids;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    candidate_id id = 0;
    const auto [end, problem] = std::from_chars(at, text.data() + text.size(), id);
    const bool last = end == text.data() + text.size();
    if (problem != std::errc{} || (!last && *end != ',') || ids.size() == most_curves)
      return fail(error_kind::invalid_input,
                  fmt::format("ids are at most {} numbers with commas between them",
                              most_curves));
    ids.push_back(id);
    at = last ? end : end + 1;
  }
  return ids;
}

/// Whether a page of ours sent it: others cannot send this type without asking first,
/// which nobody answers.
bool is_json(const httplib::Request& req) {
  return req.get_header_value("Content-Type").starts_with("application/json");
}

candidate_id id_of(const httplib::Request& req) {
  return std::stoull(req.matches[1].str());
}

} // namespace

void web_work::route(httplib::Server& server) {
  server.Get("/api/curves", [this](const auto& req, auto& res) { curves(req, res); });
  server.Get(R"(/api/candidate/(\d{1,19})/costs)",
             [this](const auto& req, auto& res) { costs(id_of(req), res); });
  server.Get(R"(/api/model/(\d{1,19}))",
             [this](const auto& req, auto& res) { model(req, id_of(req), res); });
  server.Get("/api/session", [this](const auto&, auto& res) { session(res); });
  server.Get("/api/verdict", [this](const auto&, auto& res) {
    give_json(res, hooks_.verdict ? hooks_.verdict() : expected<std::string>("[]"));
  });
  server.Get("/api/runs", [this](const auto&, auto& res) {
    give_json(res, hooks_.runs ? hooks_.runs() : expected<std::string>("[]"));
  });
  server.Get(R"(/api/run/([^/]{1,255}))", [this](const auto& req, auto& res) {
    if (!hooks_.run)
      return give_error(res, 404, "other runs are not at hand here");
    give_json(res, hooks_.run(req.matches[1].str()));
  });
  server.Post("/api/control", [this](const auto& req, auto& res) { control(req, res); });
}

void web_work::curves(const httplib::Request& req, httplib::Response& res) {
  const auto ids = parse_ids(req.get_param_value("ids"));
  if (!ids)
    return give_error(res, 400, ids.error().message);
  give_json(res, desk_.ask([&](feed& f) -> expected<std::string> {
    std::vector<genome_view> found;
    for (const auto id : *ids) {
      auto one = f.candidate(id);
      if (!one)
        return tl::unexpected<error>(one.error());
      found.push_back(std::move(*one));
    }
    return curves_json(found);
  }));
}

void web_work::costs(candidate_id id, httplib::Response& res) {
  std::shared_ptr<const genome> g;
  const auto asked = desk_.ask([&](feed& f) {
    return f.candidate(id).map([&](const genome_view& found) {
      g = found.born.genome;
      return std::string();
    });
  });
  if (!asked)
    return give_json(res, asked);
  expected<std::string> known =
      fail(error_kind::not_found, "the run's data are not at hand here");
  if (hooks_.costs)
    known = hooks_.costs(*g);
  // A page does without, which is no fault of its question.
  give(res, "application/json",
       known ? *known
             : nlohmann::json{{"nodes", nlohmann::json::object()},
                              {"problem", known.error().message}}
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void web_work::model(const httplib::Request& req, candidate_id id,
                     httplib::Response& res) {
  if (!hooks_.model)
    return give_error(res, 404, "the run's networks are not at hand here");
  auto made = hooks_.model(id, req.get_param_value("format"));
  if (!made)
    return give_json(res, tl::unexpected(made.error()));
  res.set_header("Content-Disposition",
                 fmt::format("attachment; filename=\"{}\"", made->name));
  give(res, "application/octet-stream", std::move(made->bytes));
}

void web_work::session(httplib::Response& res) {
  give_json(res, desk_.ask([&](feed& f) -> expected<std::string> {
    return nlohmann::json{{"user", hooks_.user},
                          {"host", hooks_.host},
                          {"address", address_},
                          {"orders", f.takes_orders() && !hooks_.user.empty()},
                          {"notes", f.takes_annotations() && !hooks_.user.empty()},
                          {"models", static_cast<bool>(hooks_.model)},
                          {"runs", static_cast<bool>(hooks_.runs)}}
        .dump();
  }));
}

expected<instruction> web_work::order_of(const std::string& body) const {
  const auto sent = parse_shallow<nlohmann::json>(body);
  if (!sent.is_object() || !sent.contains("order") || sent["order"] != "add")
    return parse_order(body);
  if (!hooks_.add)
    return fail(error_kind::not_found, "other runs are not at hand here");
  const auto run = sent.find("run"), id = sent.find("id");
  if (run == sent.end() || !run->is_string() || id == sent.end()
      || !id->is_number_unsigned())
    return fail(error_kind::invalid_input,
                "add needs the run and the number of a candidate");
  return hooks_.add(run->get<std::string>(), id->get<candidate_id>());
}

void web_work::control(const httplib::Request& req, httplib::Response& res) {
  if (!is_json(req))
    return give_error(res, 415, "an order is sent as application/json");
  if (hooks_.user.empty())
    return give_error(res, 403, "orders are not taken here");
  const auto order = order_of(req.body);
  if (!order)
    return give_json(res, tl::unexpected(order.error()));
  give_json(res, desk_.ask([&](feed& f) {
    return f.tell({.order = *order, .who = hooks_.user}).map([&] {
      return nlohmann::json{{"recorded", to_text(*order)}}.dump();
    });
  }));
}

} // namespace clade
