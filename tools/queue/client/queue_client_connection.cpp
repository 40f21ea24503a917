// Whoever listens at a port of this machine's loopback can be asked of the kernel once it
// has accepted: before, a connection is nobody's, and what is sent would be read by whoever
// accepts it then.
#include "tools/queue/client/queue_client_connection.hpp"

#include "actors/transport/tls/peer_user.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/processes/entry_log.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace clade {

namespace {

/// Between two looks whether a connection is accepted.
constexpr std::chrono::milliseconds accept_pause{1};

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

/// Whether the other side has ended a connection.
bool is_cut(int connected) {
  pollfd one{.fd = connected, .events = POLLRDHUP, .revents = 0};
  return ::poll(&one, 1, 0) != 0;
}

/// Looks who has accepted a connection before anything is sent.
class loopback_client final : public httplib::ClientImpl {
public:
  loopback_client(const queue_server_params& at, const queue_connection_params& params)
      : ClientImpl(at.host, at.port),
        trusted_(params.trusted),
        accept_time_(params.connect_time) {}

  /// Why the last connection was given up; empty: it was not.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

private:
  bool create_and_connect_socket(Socket& made, httplib::Error& failed) override {
    refusal_.clear();
    if (!ClientImpl::create_and_connect_socket(made, failed))
      return false;
    refusal_ = why_not(made.sock);
    if (refusal_.empty())
      return true;
    ::close(made.sock);
    made.sock = INVALID_SOCKET;
    failed = httplib::Error::Connection;
    return false;
  }

  [[nodiscard]] std::string why_not(int connected) const {
    const auto until = std::chrono::steady_clock::now() + accept_time_;
    auto peer = user_of_peer(connected);
    // A server that dies leaves connections behind that nobody will ever accept.
    while (peer.found == peer_user::is::absent && !is_cut(connected)
           && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(accept_pause);
      peer = user_of_peer(connected);
    }
    switch (peer.found) {
    case peer_user::is::absent:
      return "no process of this machine accepts the connection";
    case peer_user::is::untold:
      return "the token is not sent, as only TLS would say whose server this is: clade "
             "serve --certificate FILE --key FILE";
    case peer_user::is::known:
      break;
    }
    if (std::ranges::find(trusted_, peer.user) != trusted_.end())
      return {};
    return fmt::format(
        "user {} listens there, who does not serve this queue: the token is not sent",
        peer.user);
  }

  std::vector<uid_t> trusted_;
  std::chrono::seconds accept_time_;
  std::string refusal_;
};

/// False: the answer is longer than may be, or packed, and is read no further.
bool take_body(const httplib::Response& res, const char* data, std::size_t size,
               std::string& body) {
  if (res.has_header("Content-Encoding") || size > most_answer_bytes - body.size())
    return false;
  body.append(data, size);
  return true;
}

} // namespace

struct queue_client_connection::impl {
  std::string address;
  std::unique_ptr<httplib::ClientImpl> client;
  loopback_client* plain = nullptr; ///< The client, where it has no TLS.
};

queue_client_connection::queue_client_connection(std::unique_ptr<impl> i)
    : impl_(std::move(i)) {}
queue_client_connection::queue_client_connection(queue_client_connection&&) noexcept =
    default;
queue_client_connection::~queue_client_connection() = default;

const std::string& queue_client_connection::address() const {
  return impl_->address;
}

expected<queue_client_connection>
queue_client_connection::open(queue_connection_params params) {
  queue_server_params at;
  const bool tls = params.address.starts_with("https://");
  if (auto read = read_address(params.address, at); !read)
    return tl::unexpected(read.error());
  if (!tls && !params.address.starts_with("http://"))
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is no address of a server", params.address));
  auto made = std::make_unique<impl>();
  made->address = params.address;
  if (tls) {
    auto client = std::make_unique<httplib::SSLClient>(at.host, at.port);
    client->set_ca_cert_path(params.certificate.string());
    client->enable_server_certificate_verification(true);
    made->client = std::move(client);
  } else {
    auto client = std::make_unique<loopback_client>(at, params);
    made->plain = client.get();
    made->client = std::move(client);
  }
  made->client->set_bearer_token_auth(params.token);
  made->client->set_tcp_nodelay(true);
  made->client->set_keep_alive(true);
  made->client->set_decompress(false);
  made->client->set_connection_timeout(params.connect_time);
  return queue_client_connection(std::move(made));
}

queue_answer queue_client_connection::ask(const queue_question& q,
                                          std::chrono::seconds patience) {
  queue_answer answer;
  httplib::Request asked;
  httplib::Response given;
  asked.method = q.method;
  asked.path = q.path;
  asked.body = q.body;
  if (!q.type.empty())
    asked.set_header("Content-Type", q.type);
  asked.set_header("Accept-Encoding", "identity");
  asked.content_receiver = [&](const char* data, std::size_t size, std::uint64_t,
                               std::uint64_t) {
    answer.is_too_long = !take_body(given, data, size, answer.body);
    return !answer.is_too_long;
  };
  impl_->client->set_read_timeout(patience);
  auto failed = httplib::Error::Success;
  bool sent = impl_->client->send(asked, given, failed);
  // A server ends connections on which it was asked nothing for a while. Over TLS that is
  // found out by writing; of what could not be written nothing is carried out.
  if (!sent && failed == httplib::Error::Write)
    sent = impl_->client->send(asked, given, failed);
  if (sent) {
    answer.status = given.status;
    answer.log_offset = given.get_header_value(log_offset_header);
    answer.servers = given.get_header_value(servers_header);
    return answer;
  }
  const bool refused = impl_->plain != nullptr && !impl_->plain->refusal().empty();
  answer.is_unsent = is_unsent(failed);
  answer.failure = refused ? impl_->plain->refusal() : httplib::to_string(failed);
  return answer;
}

} // namespace clade
