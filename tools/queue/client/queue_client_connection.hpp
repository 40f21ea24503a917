#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// Whom a client asks, and as whom.
struct queue_connection_params {
  std::string address; ///< "http://127.0.0.1:4711"
  std::string token{};
  std::filesystem::path certificate{}; ///< That a server with TLS must show.
  /// Without TLS: the users of this machine whose processes may be sent the token.
  std::vector<uid_t> trusted{};
  std::chrono::seconds connect_time{60};
};

struct queue_question {
  std::string method = "GET", path{}, type{}, body{};
};

struct queue_answer {
  int status = 0;
  std::string body{}, log_offset{};
  std::string servers{};  ///< `servers_header` of it.
  std::string failure{};  ///< Why there is none; empty: there is one.
  bool is_unsent = false; ///< There is none, and the server cannot have had the question.
  bool is_too_long = false; ///< It is longer than `most_answer_bytes`, or was packed.
};

inline constexpr std::size_t most_answer_bytes = std::size_t{64} << 20;

/// A connection to one server of a queue, made when it is first asked and kept. The token
/// is sent to none but that server: with TLS it shows the queue's certificate; without, the
/// process that has accepted the connection must be a trusted user's, and of this machine.
/// One question at a time.
class queue_client_connection {
public:
  /// `invalid_input`: that is no address of a server.
  [[nodiscard]] static expected<queue_client_connection>
  open(queue_connection_params params);
  queue_client_connection(queue_client_connection&&) noexcept;
  ~queue_client_connection();

  /// Waits so long for each part of the answer.
  [[nodiscard]] queue_answer ask(const queue_question& q, std::chrono::seconds patience);

  [[nodiscard]] const std::string& address() const;

private:
  struct impl;
  explicit queue_client_connection(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
