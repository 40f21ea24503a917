#include "tools/http/answers.hpp"

#include "genome/base/text.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace clade {

namespace {

int status_of(error_kind kind) {
  switch (kind) {
  case error_kind::invalid_input:
    return 400;
  case error_kind::not_found:
    return 404;
  case error_kind::conflict:
    return 409;
  case error_kind::refused:
    return 503;
  default:
    return 500;
  }
}

/// Gives `bytes`, which `owner` keeps. The library asks for whatever range a request names,
/// and looks only for answers of status 2xx whether it lies within them; requests that name
/// one do not reach it (http_connection.hpp), and no provider relies on that.
void give_pieces(httplib::Response& res, const std::string& type, std::string_view bytes,
                 std::shared_ptr<const std::string> owner) {
  res.set_content_provider(
      bytes.size(), type,
      [bytes, owner = std::move(owner)](std::size_t offset, std::size_t length,
                                        httplib::DataSink& sink) {
        return offset <= bytes.size() && length <= bytes.size() - offset
               && sink.write(bytes.data() + offset, length);
      });
}

} // namespace

httplib::Headers headers_of_all() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types "
           "'none'"},
          {"Cache-Control", "no-store"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

void give(httplib::Response& res, const char* type, std::string text) {
  if (text.empty()) // The library would ask for pieces of it without end.
    return res.set_content(std::move(text), type);
  const auto owner = std::make_shared<const std::string>(std::move(text));
  give_pieces(res, type, *owner, owner);
}

void give_error(httplib::Response& res, int status, const std::string& message) {
  res.status = status;
  give(res, "application/json",
       nlohmann::json{{"error", message}}.dump(-1, ' ', false,
                                               nlohmann::json::error_handler_t::replace));
}

void give_json(httplib::Response& res, expected<std::string> text) {
  if (text)
    give(res, "application/json", std::move(*text));
  else
    give_error(res, status_of(text.error().kind), text.error().message);
}

void give_static(httplib::Response& res, const std::string& type,
                 std::string_view bytes) {
  give_pieces(res, type, bytes, nullptr);
}

void give_stream(httplib::Response& res, const char* type,
                 std::function<std::optional<std::string>()> next,
                 std::function<void()> ended) {
  res.set_chunked_content_provider(
      type,
      [next = std::move(next)](std::size_t, httplib::DataSink& sink) {
        const auto piece = next();
        return piece && sink.write(piece->data(), piece->size());
      },
      [ended = std::move(ended)](bool) { ended(); });
}

expected<std::uint64_t> number_of(const httplib::Request& req, const std::string& name,
                                  std::uint64_t otherwise) {
  if (!req.has_param(name))
    return otherwise;
  const auto text = req.get_param_value(name);
  const auto value = parse_number<std::uint64_t>(text);
  if (!value)
    return fail(error_kind::invalid_input, name + " is a whole number");
  return *value;
}

} // namespace clade
