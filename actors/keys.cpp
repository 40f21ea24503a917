#include "actors/keys.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

// The authority is a self-signed certificate that may sign others; head and worker get
// one each, for both directions of TLS, because either side checks the other. CAF checks
// only that a certificate comes from the authority: whoever holds one of this run is in.

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr long valid_seconds = 30L * 24 * 3600;
constexpr long clock_skew_seconds = 24L * 3600;

template<auto Free>
struct freed_by {
  template<class T>
  void operator()(T* p) const {
    Free(p);
  }
};

using key_pointer = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, freed_by<X509_free>>;
using file_pointer = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

tl::unexpected<error> openssl_failed(const char* what) {
  char text[256] = "no reason given";
  if (const auto code = ERR_get_error(); code != 0)
    ERR_error_string_n(code, text, sizeof(text));
  return fail(error_kind::internal,
              std::string("cannot make keys: ") + what + ": " + text);
}

bool add_extension(X509* certificate, X509* issuer, int id, const char* text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, id, text)};
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// Signs a certificate over `key`; `issuer` is null for the authority itself.
expected<certificate_pointer> sign(EVP_PKEY* key, const std::string& name, X509* issuer,
                                   EVP_PKEY* issuer_key) {
  certificate_pointer certificate{X509_new()};
  std::uint64_t serial = 0;
  if (!certificate
      || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1)
    return openssl_failed("certificate");
  auto* x = certificate.get();
  auto* subject = X509_get_subject_name(x);
  const auto* common_name = reinterpret_cast<const unsigned char*>(name.c_str());
  const bool authority = issuer == nullptr;
  bool good =
      X509_set_version(x, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) == 1
      && X509_gmtime_adj(X509_getm_notBefore(x), -clock_skew_seconds) != nullptr
      && X509_gmtime_adj(X509_getm_notAfter(x), valid_seconds) != nullptr
      && X509_set_pubkey(x, key) == 1
      && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, common_name, -1, -1, 0)
             == 1
      && X509_set_issuer_name(x, authority ? subject : X509_get_subject_name(issuer))
             == 1;
  X509* signer = authority ? x : issuer;
  good =
      good
      && add_extension(x, signer, NID_basic_constraints,
                       authority ? "critical,CA:TRUE" : "critical,CA:FALSE")
      && add_extension(x, signer, NID_key_usage,
                       authority ? "critical,keyCertSign" : "critical,digitalSignature");
  if (good && !authority)
    good = add_extension(x, signer, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!good || X509_sign(x, authority ? key : issuer_key, EVP_sha256()) == 0)
    return openssl_failed("certificate");
  return certificate;
}

template<class Write>
expected<void> write_file(const fs::path& path, Write write) {
  std::error_code ignored;
  fs::remove(path,
             ignored); // A file that cannot be removed makes the exclusive open fail.
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  file_pointer file{descriptor < 0 ? nullptr : ::fdopen(descriptor, "w")};
  if (!file || write(file.get()) != 1 || std::fflush(file.get()) != 0)
    return fail(error_kind::io, "cannot write " + path.string());
  return {};
}

expected<void> make_private_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure)
    fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return fail(error_kind::io, folder.string() + ": " + failure.message());
  return {};
}

expected<void> write_pair(const fs::path& directory, const std::string& role,
                          X509* authority, EVP_PKEY* authority_key) {
  if (auto made = make_private_folder(directory / role); !made)
    return made;
  key_pointer key{EVP_EC_gen("P-256")};
  if (!key)
    return openssl_failed("key");
  auto certificate = sign(key.get(), "clade " + role, authority, authority_key);
  if (!certificate)
    return tl::unexpected(certificate.error());
  return write_file(directory / role / "cert.pem",
                    [&](std::FILE* f) { return PEM_write_X509(f, certificate->get()); })
      .and_then([&]() -> expected<void> {
        return write_file(directory / role / "key.pem", [&](std::FILE* f) {
          return PEM_write_PrivateKey(f, key.get(), nullptr, nullptr, 0, nullptr,
                                      nullptr);
        });
      });
}

} // namespace

expected<void> make_run_keys(const fs::path& directory) {
  if (auto made = make_private_folder(directory); !made)
    return made;
  key_pointer key{EVP_EC_gen("P-256")};
  if (!key)
    return openssl_failed("key");
  auto authority = sign(key.get(), "clade run", nullptr, nullptr);
  if (!authority)
    return tl::unexpected(authority.error());
  auto written = write_file(directory / "ca.pem", [&](std::FILE* f) {
    return PEM_write_X509(f, authority->get());
  });
  for (const char* role : {"head", "worker"})
    if (written)
      written = write_pair(directory, role, authority->get(), key.get());
  return written;
}

expected<key_files> find_keys(const fs::path& directory, const std::string& role) {
  key_files result{.authority = directory / "ca.pem",
                   .certificate = directory / role / "cert.pem",
                   .key = directory / role / "key.pem"};
  for (const auto& file : {result.authority, result.certificate, result.key})
    if (::access(file.c_str(), R_OK) != 0)
      return fail(error_kind::not_found,
                  file.string()
                      + " is missing or not readable: --keys names the folder with "
                        "ca.pem and "
                      + role + "/{cert,key}.pem");
  return result;
}

} // namespace clade
