#pragma once

#include "engine/report/json_parts.hpp"
#include "genome/error.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// For so many seconds a client asks again where no server is there; else not at all.
inline constexpr const char* queue_patience_variable = "CLADE_QUEUE_PATIENCE";

/// Asks the server of a queue (queue_server.hpp). Every call blocks until it is answered.
/// An error is what the server said, or that none answers.
class queue_client {
public:
  /// Of a queue's folder, or the folder that a user was given: `address`, `token` and,
  /// with TLS, the `certificate` that the server must show.
  [[nodiscard]] static expected<queue_client> open(const std::filesystem::path& folder);

  queue_client(queue_client&&) noexcept;
  ~queue_client();

  /// What a browser opens, with the token in it.
  [[nodiscard]] std::string page_address() const;

  [[nodiscard]] expected<ordered_json> get(const std::string& path);
  /// `twice`: whether it does no harm that it is asked again, since no answer came.
  [[nodiscard]] expected<ordered_json> post(const std::string& path,
                                            const ordered_json& body, bool twice = false);
  [[nodiscard]] expected<ordered_json> remove(const std::string& path);
  /// The answer as it is, of bytes of that type.
  [[nodiscard]] expected<std::string>
  post_bytes(const std::string& path, const std::string& type, std::string_view body);
  /// The answer as it is.
  [[nodiscard]] expected<std::string> get_bytes(const std::string& path);

private:
  struct impl;
  explicit queue_client(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
