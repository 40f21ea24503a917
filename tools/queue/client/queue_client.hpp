#pragma once

#include "engine/report/base/json_parts.hpp"
#include "genome/base/error.hpp"
#include "tools/queue/client/answer_shape.hpp"
#include "tools/queue/processes/entry_log.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace clade {

/// For so many seconds a client asks again where no server is there; else not at all.
inline constexpr const char* queue_patience_variable = "CLADE_QUEUE_PATIENCE";

struct queue_client_params {
  /// Each question fails within seconds where no server answers.
  bool impatient = false;
};

/// The token in a queue's folder, or one that a user was given.
[[nodiscard]] expected<std::string> read_token(const std::filesystem::path& folder);

/// Asks the servers of a queue (queue_server.hpp). Every call blocks until it is answered.
/// An error is what the server said, that none answers, or that what answers is no server
/// of a queue: an answer that is returned has the shape that was asked for.
///
/// If the file `address` names several, the next is asked when one does not answer, or
/// says that it waits for another's end (503), until one answers: for `take_over_time`,
/// within which a server that waits takes over. A question that would change something is
/// not sent to a second one if the first may have had it.
class queue_client {
public:
  inline static constexpr std::chrono::seconds take_over_time{15};

  /// Opens the client of a queue's folder, or the folder that a user was given
  /// (client_folder.hpp). An error: somebody else may change what is there.
  [[nodiscard]] static expected<queue_client>
  open(const std::filesystem::path& folder, const queue_client_params& params = {});

  /// From now on a question waits so long for a server that answers, once one has. Else it
  /// does so for `take_over_time` where there are several, and not at all where there is
  /// one.
  void be_patient(std::chrono::seconds most);
  /// From now on it is as patient as if a server had answered. `silent` is told once where
  /// none does, and why.
  void await_server(std::function<void(const std::string& why)> silent);
  /// How long a question may ask a server to wait for a change (its `wait`), so that one
  /// that hangs is told from one that waits.
  [[nodiscard]] std::uint64_t longest_wait_ms() const;
  /// Whether a server has said, since this was asked last, that there is one that the folder
  /// did not name. The folder names it then.
  [[nodiscard]] bool take_learned();
  /// The server that answered last, or is asked first.
  [[nodiscard]] const std::string& address() const;

  queue_client(queue_client&&) noexcept;
  ~queue_client();

  /// Returns the address that a browser opens, with the token in it; of a server that has
  /// just answered.
  [[nodiscard]] expected<std::string> page_address();

  [[nodiscard]] expected<ordered_json> get(const std::string& path,
                                           const answer_shape& shape);
  /// `twice`: whether it does no harm that it is asked again, since no answer came.
  [[nodiscard]] expected<ordered_json> post(const std::string& path,
                                            const ordered_json& body,
                                            const answer_shape& shape,
                                            bool twice = false);
  [[nodiscard]] expected<ordered_json> remove(const std::string& path);
  /// The answer as it is, of bytes of that type.
  [[nodiscard]] expected<std::string>
  post_bytes(const std::string& path, const std::string& type, std::string_view body);
  /// The answer as it is.
  [[nodiscard]] expected<std::string> get_bytes(const std::string& path);
  /// A piece of an entry's log from that offset on (`read_log`).
  [[nodiscard]] expected<log_piece> read_log(std::uint64_t entry, std::uint64_t offset);

private:
  struct impl;
  explicit queue_client(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
