// OpenSSL keeps a queue of errors for each thread and wants it empty before each call
// whose result SSL_get_error is to explain. CAF 0.17 never empties it, and all its
// connections share one thread: after one peer was killed, or sent garbage, the next
// "nothing to read yet" of any other connection is taken for that error, and its healthy
// peer is cut off. These four functions stand before OpenSSL's own, for CAF's library
// too, and empty the queue first.
#include "actors/tls_errors.hpp"

#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace {

/// OpenSSL's own function of that name.
template<class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

int SSL_read(SSL* ssl, void* buffer, int size) {
  static const auto original = next<int (*)(SSL*, void*, int)>("SSL_read");
  ERR_clear_error();
  return original(ssl, buffer, size);
}

int SSL_write(SSL* ssl, const void* buffer, int size) {
  static const auto original = next<int (*)(SSL*, const void*, int)>("SSL_write");
  ERR_clear_error();
  return original(ssl, buffer, size);
}

int SSL_accept(SSL* ssl) {
  static const auto original = next<int (*)(SSL*)>("SSL_accept");
  ERR_clear_error();
  return original(ssl);
}

int SSL_connect(SSL* ssl) {
  static const auto original = next<int (*)(SSL*)>("SSL_connect");
  ERR_clear_error();
  return original(ssl);
}

} // extern "C"

namespace clade {

bool tls_errors_are_separate() {
  return dlsym(RTLD_DEFAULT, "SSL_read") == reinterpret_cast<void*>(&SSL_read);
}

} // namespace clade
