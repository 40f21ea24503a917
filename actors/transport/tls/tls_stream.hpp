#pragma once

#include "actors/transport/tls/keys.hpp"
#include "genome/base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct ssl_st; // OpenSSL's connection.

namespace clade {

/// Who connected, and who was connected to.
enum class tls_side { client, server };

/// The outcome of a step.
enum class tls_step {
  done,    ///< All that was asked for.
  waiting, ///< The peer must do something first.
  ended,   ///< The connection is over: `why_ended`.
};

/// A TLS connection over a socket that does not block, and that may be connecting still.
/// Either side shows a worker's certificate, which the authority in the other's files
/// signed. Whoever writes to a peer that is gone gets no signal. One thread uses it.
class tls_stream {
public:
  /// Reads the files, which the run renews.
  [[nodiscard]] static expected<tls_stream> over(unique_fd socket, const key_files& keys,
                                                 tls_side side);
  /// Whether the files can be used.
  [[nodiscard]] static expected<void> check(const key_files& keys);

  tls_stream(tls_stream&&) noexcept;
  tls_stream& operator=(tls_stream&&) noexcept;
  ~tls_stream();

  [[nodiscard]] tls_step shake_hands();
  /// Reads until `to` is full, and leaves in it what is not read yet.
  [[nodiscard]] tls_step read(std::span<std::byte>& to);
  /// Writes all of `from`, and leaves in it what is not written yet. After `waiting` the
  /// next call has the same bytes at the front, and as many or more.
  [[nodiscard]] tls_step write(std::span<const std::byte>& from);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// The events to poll for, after `waiting`, before the handshake or `read` can go on.
  [[nodiscard]] short read_events() const { return read_events_; }
  [[nodiscard]] short write_events() const { return write_events_; }
  /// A part of a sentence for a person.
  [[nodiscard]] const std::string& why_ended() const { return why_ended_; }
  /// All that the socket was given, with what TLS adds.
  [[nodiscard]] std::uint64_t wire_bytes_sent() const;

  /// After how many bytes a new key is taken for what is written. One key of AES-GCM is
  /// good for 2^24.5 records (RFC 8446, 5.5), and OpenSSL does not count them.
  void take_new_keys_after(std::uint64_t bytes) { key_bytes_ = bytes; }

private:
  struct free_ssl {
    void operator()(ssl_st* ssl) const;
  };

  tls_stream(unique_fd socket, std::unique_ptr<ssl_st, free_ssl> ssl);
  tls_step not_done(int result, short& events);
  void count_written(std::uint64_t bytes);

  unique_fd socket_;
  std::unique_ptr<ssl_st, free_ssl> ssl_;
  short read_events_, write_events_;
  std::uint64_t key_bytes_, written_with_key_ = 0;
  std::string why_ended_;
};

} // namespace clade
