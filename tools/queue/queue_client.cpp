#include "tools/queue/queue_client.hpp"

#include "genome/json_depth.hpp"
#include "genome/whole_file.hpp"
#include "tools/queue/queue_addresses.hpp"
#include "tools/queue/queue_tokens.hpp"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace clade {

namespace {

constexpr std::uint64_t most_line_bytes = 4096;
constexpr time_t patience_s = 60;
constexpr int waits_status = 503;
/// A server that should have answered so long ago hangs, where there is another one.
constexpr time_t hang_s = 5;
/// What a question may ask to wait, where there is one server, and where several.
constexpr time_t wait_s = 15, several_wait_s = 3;
/// Between two rounds of questions to all.
constexpr std::chrono::milliseconds pause{200};

/// Whether the server cannot have had the question.
bool is_unsent(httplib::Error e) {
  switch (e) {
  case httplib::Error::Connection:
  case httplib::Error::ConnectionTimeout:
  case httplib::Error::SSLConnection:
  case httplib::Error::SSLLoadingCerts:
  case httplib::Error::SSLServerVerification:
    return true;
  default:
    return false;
  }
}

/// The one line of a small file.
expected<std::string> read_line(const std::filesystem::path& file) {
  return read_whole_file(file, {.most_bytes = most_line_bytes}).map([](std::string text) {
    return text.substr(0, text.find_first_of("\r\n"));
  });
}

/// How long to ask again where no server is there.
std::chrono::seconds patience_of_environment() {
  const char* seconds = std::getenv(queue_patience_variable);
  return std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
}

/// What a status says of an error's kind, as tools/http/answers.hpp has it.
error_kind kind_of_status(int status) {
  switch (status) {
  case 401:
  case 403:
    return error_kind::refused;
  case 404:
    return error_kind::not_found;
  case 409:
    return error_kind::conflict;
  default:
    return status < 500 ? error_kind::invalid_input : error_kind::io;
  }
}

} // namespace

struct queue_client::impl {
  struct server {
    std::string address;
    httplib::Client client;

    explicit server(const std::string& at) : address(at), client(at) {}
  };
  using question = std::function<httplib::Result(httplib::Client&)>;

  std::vector<std::unique_ptr<server>> servers;
  std::size_t current = 0;
  bool answered = false;
  bool impatient = false;
  std::chrono::seconds patience{0}; ///< Once one has answered.
  std::chrono::seconds of_environment = patience_of_environment();
  std::string token;

  [[nodiscard]] server& now() const { return *servers[current]; }
  /// Whether one that hangs is told from one that waits.
  [[nodiscard]] bool is_quick() const { return servers.size() > 1 || impatient; }

  [[nodiscard]] std::chrono::seconds search_time() const {
    return std::max(
        {servers.size() > 1 && !impatient ? take_over_time : std::chrono::seconds(0),
         answered ? patience : std::chrono::seconds(0), of_environment});
  }

  /// What a server of the queue answers.
  expected<std::string> ask(const question& f, bool repeatable) {
    const auto until = std::chrono::steady_clock::now() + search_time();
    while (true) {
      std::string silent;
      for (std::size_t n = 0; n < servers.size(); ++n) {
        // A question that waits is answered before that.
        now().client.set_read_timeout(repeatable && is_quick() ? several_wait_s + hang_s
                                                               : patience_s);
        const auto asked = f(now().client);
        if (asked && asked->status != waits_status) {
          answered = true;
          return answer(*asked);
        }
        if (!asked && !repeatable && !is_unsent(asked.error()))
          return fail(error_kind::io, now().address + " has not answered ("
                                          + httplib::to_string(asked.error())
                                          + "), and may have done it: clade get says so");
        silent +=
            (n == 0 ? "" : ", ") + now().address + " ("
            + (asked ? answer(*asked).error().message : httplib::to_string(asked.error()))
            + ")";
        current = (current + 1) % servers.size();
      }
      if (std::chrono::steady_clock::now() >= until)
        return fail(error_kind::not_found,
                    "no server of the queue answers at " + silent
                        + "; it is started by: clade serve FOLDER");
      std::this_thread::sleep_for(pause);
    }
  }

  expected<std::string> answer(const httplib::Response& given) const {
    if (given.status >= 200 && given.status < 300)
      return given.body;
    const auto said = parse_shallow<ordered_json>(given.body);
    const bool sentence =
        said.is_object() && said.contains("error") && said["error"].is_string();
    return fail(kind_of_status(given.status),
                sentence ? said["error"].get<std::string>()
                         : now().address + " answers " + std::to_string(given.status));
  }

  expected<ordered_json> json(const question& f, bool repeatable) {
    return ask(f, repeatable)
        .and_then([&](const std::string& text) -> expected<ordered_json> {
          auto parsed = parse_shallow<ordered_json>(text);
          if (!parsed.is_object())
            return fail(error_kind::invalid_input,
                        now().address + " does not answer as a queue's server does");
          return parsed;
        });
  }
};

queue_client::queue_client(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
queue_client::queue_client(queue_client&&) noexcept = default;
queue_client::~queue_client() = default;

expected<std::string> read_token(const std::filesystem::path& folder) {
  return read_line(folder / token_file_name);
}

expected<queue_client> queue_client::open(const std::filesystem::path& folder,
                                          const queue_client_params& params) {
  const auto addresses = read_addresses(folder);
  if (addresses.empty())
    return fail(error_kind::not_found,
                folder.string()
                    + " is no queue's folder, nor one that a user was given: it has no "
                      "address; clade serve "
                    + folder.string() + " makes a queue there");
  const auto token = read_token(folder);
  if (!token)
    return tl::unexpected(token.error());
  auto made = std::make_unique<impl>();
  made->token = *token;
  made->impatient = params.impatient;
  for (const auto& address : addresses) {
    auto s = std::make_unique<impl::server>(address);
    if (!s->client.is_valid())
      return fail(error_kind::invalid_input, (folder / address_file_name).string()
                                                 + ": \"" + address
                                                 + "\" is no address of a server");
    s->client.set_bearer_token_auth(*token);
    s->client.set_tcp_nodelay(true);
    s->client.set_keep_alive(true);
    if (params.impatient || addresses.size() > 1)
      s->client.set_connection_timeout(hang_s);
    if (address.starts_with("https://")) {
      s->client.set_ca_cert_path((folder / certificate_file_name).string());
      s->client.enable_server_certificate_verification(true);
    }
    made->servers.push_back(std::move(s));
  }
  return queue_client(std::move(made));
}

std::string queue_client::page_address() const {
  return impl_->now().address + "/#token=" + impl_->token;
}

void queue_client::be_patient(std::chrono::seconds most) {
  impl_->patience = most;
}

std::uint64_t queue_client::longest_wait_ms() const {
  return 1000 * static_cast<std::uint64_t>(impl_->is_quick() ? several_wait_s : wait_s);
}

const std::string& queue_client::address() const {
  return impl_->now().address;
}

expected<ordered_json> queue_client::get(const std::string& path) {
  return impl_->json([&](auto& c) { return c.Get(path); }, true);
}

expected<ordered_json> queue_client::post(const std::string& path,
                                          const ordered_json& body, bool twice) {
  const auto text = text_of(body);
  return impl_->json([&](auto& c) { return c.Post(path, text, "application/json"); },
                     twice);
}

expected<std::string> queue_client::post_bytes(const std::string& path,
                                               const std::string& type,
                                               std::string_view body) {
  return impl_->ask([&](auto& c) { return c.Post(path, body.data(), body.size(), type); },
                    true);
}

expected<ordered_json> queue_client::remove(const std::string& path) {
  return impl_->json([&](auto& c) { return c.Delete(path); }, false);
}

expected<std::string> queue_client::get_bytes(const std::string& path) {
  return impl_->ask([&](auto& c) { return c.Get(path); }, true);
}

expected<log_piece> queue_client::read_log(std::uint64_t entry, std::uint64_t offset) {
  const auto path =
      "/v1/entries/" + std::to_string(entry) + "/log?offset=" + std::to_string(offset);
  log_piece piece{.offset = offset};
  auto text = impl_->ask(
      [&](auto& c) {
        auto answer = c.Get(path);
        if (answer && answer->has_header(log_offset_header))
          piece.offset = std::strtoull(
              answer->get_header_value(log_offset_header).c_str(), nullptr, 10);
        return answer;
      },
      true);
  if (!text)
    return tl::unexpected(text.error());
  piece.text = std::move(*text);
  return piece;
}

} // namespace clade
