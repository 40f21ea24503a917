#include "tools/queue/client/queue_client.hpp"

#include "genome/base/json_depth.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_client_connection.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace clade {

namespace {

constexpr std::uint64_t most_line_bytes = 4096;
constexpr std::size_t most_sentence_bytes = 64 << 10;
constexpr std::chrono::seconds patience_of_one{60};
constexpr int waits_status = 503;
/// The number of values in an answer of some hundred thousand entries.
constexpr std::size_t most_answer_values = 8 << 20;
/// A server that should have answered so long ago hangs, where there is another one.
constexpr std::chrono::seconds hang_time{5};
/// The time that a question may ask to wait: with one server, and with several.
constexpr std::chrono::seconds wait_of_one{15}, wait_of_several{3};
/// Between two rounds of questions to all.
constexpr std::chrono::milliseconds pause{200};

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

/// Returns the kind of error that a status means, as tools/http/answers.hpp has it.
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
  std::vector<queue_client_connection> servers;
  std::size_t current = 0;
  bool answered = false;
  bool impatient = false;
  std::chrono::seconds patience{0}; ///< Once one has answered.
  std::chrono::seconds of_environment = patience_of_environment();
  std::string token;
  std::filesystem::path folder;
  std::string said_last; ///< By a server, of where they are.
  bool learned = false;
  std::function<void(const std::string& why)> told_of_silence;

  [[nodiscard]] queue_client_connection& now() { return servers[current]; }
  /// Whether one that hangs is told from one that waits.
  [[nodiscard]] bool is_quick() const { return servers.size() > 1 || impatient; }

  [[nodiscard]] std::chrono::seconds search_time() const {
    return std::max(
        {servers.size() > 1 && !impatient ? take_over_time : std::chrono::seconds(0),
         answered ? patience : std::chrono::seconds(0), of_environment});
  }

  /// Returns the answer of a server of the queue.
  expected<queue_answer> ask(const queue_question& q, bool repeatable) {
    if (q.body.size() > most_posted_bytes)
      return fail(error_kind::invalid_input,
                  fmt::format("this is {} bytes to send, and a queue's server takes {} "
                              "at once; nothing was sent",
                              q.body.size(), binary_size(most_posted_bytes)));
    const auto begun = std::chrono::steady_clock::now();
    while (true) {
      std::string silent;
      for (std::size_t n = 0; n < servers.size(); ++n) {
        // A question that waits is answered before that.
        auto given = now().ask(q, repeatable && is_quick() ? wait_of_several + hang_time
                                                           : patience_of_one);
        if (given.is_too_long)
          return strange("it is packed, or of more than "
                         + binary_size(most_answer_bytes));
        const bool is_silent = !given.failure.empty();
        if (!is_silent && given.status != waits_status) {
          answered = true;
          auto judged = checked(std::move(given));
          if (judged)
            learn(judged->servers);
          return judged;
        }
        if (is_silent && !repeatable && !given.is_unsent)
          return fail(
              error_kind::io,
              fmt::format(
                  "{} has not answered ({}), and may have done it: clade get says so",
                  now().address(), given.failure));
        silent += fmt::format("{}{} ({})", n == 0 ? "" : ", ", now().address(),
                              is_silent ? given.failure : said_by(given));
        current = (current + 1) % servers.size();
      }
      // Others who have the folder may have learned of one.
      if (add_unknown(read_addresses(folder)))
        continue;
      const auto none = "no server of the queue answers at " + silent;
      if (std::chrono::steady_clock::now() >= begun + search_time())
        return fail(error_kind::not_found,
                    none + "; it is started by: clade serve FOLDER");
      if (const auto tell = std::exchange(told_of_silence, nullptr))
        tell(none);
      std::this_thread::sleep_for(pause);
    }
  }

  /// Takes these servers for those of the queue.
  expected<void> connect(const std::vector<std::string>& addresses) {
    std::vector<queue_client_connection> opened;
    const auto users = users_trusted_with_token(folder);
    for (const auto& address : addresses) {
      auto one = queue_client_connection::open(
          {.address = address,
           .token = token,
           .certificate = folder / certificate_file_name,
           .trusted = users,
           .connect_time =
               impatient || addresses.size() > 1 ? hang_time : patience_of_one});
      if (!one)
        return fail_in((folder / address_file_name).string(), one.error());
      opened.push_back(std::move(*one));
    }
    servers = std::move(opened);
    current = 0;
    return {};
  }

  /// Takes in where the queue's servers are, which one of them has said.
  void learn(const std::string& said) {
    if (said.empty() || said == said_last)
      return;
    said_last = said;
    learned = add_unknown(learn_addresses(folder, said)) || learned;
  }

  /// Returns whether there were any, and all are asked from now on.
  bool add_unknown(const std::vector<std::string>& addresses) {
    const bool any = std::ranges::any_of(addresses, [&](const std::string& one) {
      return std::ranges::none_of(servers,
                                  [&](const auto& s) { return s.address() == one; });
    });
    return any && connect(addresses);
  }

  /// Returns the error for an answer that is none of a queue's server.
  tl::unexpected<error> strange(const std::string& why) {
    return fail(error_kind::invalid_input,
                fmt::format("{} does not answer as a queue's server does: {}",
                            now().address(), why));
  }

  /// The sentence in an answer that is an error.
  std::string said_by(const queue_answer& given) {
    const auto said = given.body.size() > most_sentence_bytes
                          ? ordered_json()
                          : parse_shallow<ordered_json>(given.body);
    const bool sentence =
        said.is_object() && said.contains("error") && said["error"].is_string();
    return sentence ? said["error"].get<std::string>()
                    : fmt::format("{} answers {}", now().address(), given.status);
  }

  expected<queue_answer> checked(queue_answer given) {
    if (given.status >= 200 && given.status < 300)
      return given;
    return fail(kind_of_status(given.status), said_by(given));
  }

  expected<ordered_json> json(const queue_question& q, bool repeatable,
                              const answer_shape& shape) {
    const auto given = ask(q, repeatable);
    if (!given)
      return tl::unexpected(given.error());
    if (!nests_within(given->body, deepest_json, most_answer_values))
      return strange("it has more values, or deeper ones, than are read");
    auto parsed = ordered_json::parse(given->body, nullptr, /*allow_exceptions=*/false);
    if (const auto fits = check_shape(parsed, shape); !fits)
      return strange(fits.error().message);
    return parsed;
  }

  expected<std::string> body(const queue_question& q) {
    return ask(q, true).map([](queue_answer given) { return std::move(given.body); });
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
                fmt::format("{} is no queue's folder, nor one that a user was given: it "
                            "has no address; clade serve {} makes a queue there",
                            folder.string(), folder.string()));
  const auto token = read_token(folder);
  if (!token)
    return tl::unexpected(token.error());
  if (auto trusted = check_client_files(folder); !trusted)
    return tl::unexpected(trusted.error());
  auto made = std::make_unique<impl>();
  made->token = *token;
  made->impatient = params.impatient;
  made->folder = folder;
  if (auto ok = made->connect(addresses); !ok)
    return tl::unexpected(ok.error());
  return queue_client(std::move(made));
}

expected<std::string> queue_client::page_address() {
  return get("/v1/user", any_answer).map([&](const ordered_json&) {
    return fmt::format("{}/#token={}", impl_->now().address(), impl_->token);
  });
}

void queue_client::be_patient(std::chrono::seconds most) {
  impl_->patience = most;
}

void queue_client::await_server(std::function<void(const std::string& why)> silent) {
  impl_->answered = true;
  impl_->told_of_silence = std::move(silent);
}

bool queue_client::take_learned() {
  return std::exchange(impl_->learned, false);
}

std::uint64_t queue_client::longest_wait_ms() const {
  const std::chrono::milliseconds most =
      impl_->is_quick() ? wait_of_several : wait_of_one;
  return static_cast<std::uint64_t>(most.count());
}

const std::string& queue_client::address() const {
  return impl_->now().address();
}

expected<ordered_json> queue_client::get(const std::string& path,
                                         const answer_shape& shape) {
  return impl_->json({.path = path}, true, shape);
}

expected<ordered_json> queue_client::post(const std::string& path,
                                          const ordered_json& body,
                                          const answer_shape& shape, bool twice) {
  return impl_->json(
      {.method = "POST", .path = path, .type = "application/json", .body = text_of(body)},
      twice, shape);
}

expected<std::string> queue_client::post_bytes(const std::string& path,
                                               const std::string& type,
                                               std::string_view body) {
  return impl_->body(
      {.method = "POST", .path = path, .type = type, .body = std::string(body)});
}

expected<ordered_json> queue_client::remove(const std::string& path) {
  return impl_->json({.method = "DELETE", .path = path}, false, cancelled_answer);
}

expected<std::string> queue_client::get_bytes(const std::string& path) {
  return impl_->body({.path = path});
}

expected<log_piece> queue_client::read_log(std::uint64_t entry, std::uint64_t offset) {
  const auto path = fmt::format("/v1/entries/{}/log?offset={}", entry, offset);
  return impl_->ask({.path = path}, true).map([&](queue_answer given) {
    // It may be further on, where the middle of a log was left out, and never before.
    const auto at = given.log_offset.empty()
                        ? offset
                        : std::strtoull(given.log_offset.c_str(), nullptr, 10);
    return log_piece{.offset = std::max<std::uint64_t>(at, offset),
                     .text = std::move(given.body)};
  });
}

} // namespace clade
