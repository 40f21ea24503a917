#include "tools/queue/queue_client.hpp"

#include "genome/json_depth.hpp"
#include "genome/whole_file.hpp"
#include "tools/queue/queue_tokens.hpp"

#include <httplib.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace clade {

namespace {

constexpr std::uint64_t most_line_bytes = 4096;
constexpr time_t patience_s = 60;
constexpr std::chrono::milliseconds pause{200};

/// The one line of a small file.
expected<std::string> read_line(const std::filesystem::path& file) {
  return read_whole_file(file, {.most_bytes = most_line_bytes}).map([](std::string text) {
    return text.substr(0, text.find_first_of("\r\n"));
  });
}

/// How long to ask again where no server is there.
std::chrono::milliseconds patience_of_environment() {
  const char* seconds = std::getenv(queue_patience_variable);
  return std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
}

/// What a status says of an error's kind, as web_answers.hpp has it.
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
  impl(std::filesystem::path folder, std::string at, std::string secret)
      : folder(std::move(folder)),
        address(std::move(at)),
        token(std::move(secret)),
        client(address) {}

  std::filesystem::path folder;
  std::string address, token;
  httplib::Client client;
  std::chrono::milliseconds patience = patience_of_environment();

  /// Asks again while no server is there that could have heard it, or, if it may be asked
  /// twice, that answers.
  template<class Question>
  httplib::Result ask(Question question, bool twice = true) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
      auto asked = question();
      if (asked || (!twice && asked.error() != httplib::Error::Connection)
          || std::chrono::steady_clock::now() >= until)
        return asked;
      std::this_thread::sleep_for(pause);
    }
  }

  expected<std::string> answer(const httplib::Result& asked) const {
    if (!asked)
      return fail(error_kind::not_found, "no server of the queue answers at " + address
                                             + " (" + httplib::to_string(asked.error())
                                             + "); it is started by: clade serve FOLDER");
    if (asked->status >= 200 && asked->status < 300)
      return asked->body;
    const auto said = parse_shallow<ordered_json>(asked->body);
    const bool sentence =
        said.is_object() && said.contains("error") && said["error"].is_string();
    return fail(kind_of_status(asked->status),
                sentence ? said["error"].get<std::string>()
                         : address + " answers " + std::to_string(asked->status));
  }

  expected<ordered_json> json(const httplib::Result& asked) const {
    return answer(asked).and_then([&](const std::string& text) -> expected<ordered_json> {
      auto parsed = parse_shallow<ordered_json>(text);
      if (!parsed.is_object())
        return fail(error_kind::invalid_input,
                    address + " does not answer as a queue's server does");
      return parsed;
    });
  }
};

queue_client::queue_client(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
queue_client::queue_client(queue_client&&) noexcept = default;
queue_client::~queue_client() = default;

expected<queue_client> queue_client::open(const std::filesystem::path& folder) {
  const auto address = read_line(folder / address_file_name);
  if (!address)
    return fail(error_kind::not_found,
                folder.string()
                    + " is no queue's folder, nor one that a user was given: it has no "
                      "address; clade serve "
                    + folder.string() + " makes a queue there");
  const auto token = read_line(folder / token_file_name);
  if (!token)
    return tl::unexpected(token.error());
  auto made = std::make_unique<impl>(folder, *address, *token);
  if (!made->client.is_valid())
    return fail(error_kind::invalid_input, (folder / address_file_name).string() + ": \""
                                               + *address
                                               + "\" is no address of a server");
  made->client.set_bearer_token_auth(*token);
  made->client.set_read_timeout(patience_s);
  made->client.set_tcp_nodelay(true);
  made->client.set_keep_alive(true);
  if (address->starts_with("https://")) {
    made->client.set_ca_cert_path((folder / certificate_file_name).string());
    made->client.enable_server_certificate_verification(true);
  }
  return queue_client(std::move(made));
}

std::string queue_client::page_address() const {
  return impl_->address + "/#token=" + impl_->token;
}

expected<ordered_json> queue_client::get(const std::string& path) {
  return impl_->json(impl_->ask([&] { return impl_->client.Get(path); }));
}

expected<ordered_json> queue_client::post(const std::string& path,
                                          const ordered_json& body, bool twice) {
  return impl_->json(impl_->ask(
      [&] { return impl_->client.Post(path, text_of(body), "application/json"); },
      twice));
}

expected<ordered_json> queue_client::remove(const std::string& path) {
  return impl_->json(impl_->ask([&] { return impl_->client.Delete(path); }));
}

expected<std::string> queue_client::post_bytes(const std::string& path,
                                               const std::string& type,
                                               std::string_view body) {
  return impl_->answer(impl_->ask(
      [&] { return impl_->client.Post(path, body.data(), body.size(), type); }));
}

expected<std::string> queue_client::get_bytes(const std::string& path) {
  return impl_->answer(impl_->ask([&] { return impl_->client.Get(path); }));
}

} // namespace clade
