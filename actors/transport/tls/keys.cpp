#include "actors/transport/tls/keys.hpp"

#include "actors/transport/tls/c_deleter.hpp"
#include "genome/base/trusted_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

// The authority is a self-signed certificate that may sign others. Each bundle's is for
// one direction of TLS (extended key usage), and either side checks the other; so whoever
// holds a worker's cannot pose as a head.

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr long day = 24L * 3600;
constexpr std::chrono::hours one_day(24);
constexpr long run_days = 30, authority_days = 365;
// A run's own authority signs for as long as the run goes on, whatever its clock says.
constexpr long run_authority_days = 3650;

using key_pointer = std::unique_ptr<EVP_PKEY, c_deleter<EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, c_deleter<X509_free>>;
using file_pointer = std::unique_ptr<std::FILE, c_deleter<std::fclose>>;

tl::unexpected<error> openssl_failed(const char* what) {
  char text[256] = "no reason given";
  if (const auto code = ERR_get_error(); code != 0)
    ERR_error_string_n(code, text, sizeof(text));
  return fail(error_kind::internal, fmt::format("cannot make keys: {}: {}", what, text));
}

bool add_extension(X509* certificate, X509* issuer, int id, const char* text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, c_deleter<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, id, text)};
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// Who signs, and for how long.
struct signer {
  certificate_pointer certificate;
  key_pointer key;
  long days = run_days;
  long days_before = 1; ///< Valid already, for machines whose clocks are slow.
};

/// The subject that a certificate is to name.
struct subject {
  std::string name;
  const char* usage = nullptr; ///< Null: it is the authority itself.
};

/// Signs a certificate over `key`.
expected<certificate_pointer> sign(EVP_PKEY* key, const subject& s, const signer& by) {
  certificate_pointer certificate{X509_new()};
  std::uint64_t serial = 0;
  if (!certificate
      || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1)
    return openssl_failed("certificate");
  auto* x = certificate.get();
  auto* name = X509_get_subject_name(x);
  const bool authority = s.usage == nullptr;
  X509* issuer = authority ? x : by.certificate.get();
  bool good =
      X509_set_version(x, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) == 1
      && X509_gmtime_adj(X509_getm_notBefore(x), -by.days_before * day) != nullptr
      && X509_gmtime_adj(X509_getm_notAfter(x), by.days * day) != nullptr
      && X509_set_pubkey(x, key) == 1
      && X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(s.name.c_str()), -1, -1, 0)
             == 1
      && X509_set_issuer_name(x, X509_get_subject_name(issuer)) == 1
      && add_extension(x, issuer, NID_basic_constraints,
                       authority ? "critical,CA:TRUE" : "critical,CA:FALSE")
      && add_extension(x, issuer, NID_key_usage,
                       authority ? "critical,keyCertSign" : "critical,digitalSignature");
  if (good && !authority)
    good = add_extension(x, issuer, NID_ext_key_usage, s.usage);
  if (!good || X509_sign(x, authority ? key : by.key.get(), EVP_sha256()) == 0)
    return openssl_failed("certificate");
  return certificate;
}

template<class Write>
expected<void> write_file(const fs::path& path, Write write) {
  std::error_code ignored;
  // Nothing else than a key is replaced by one. A file that cannot be removed makes the
  // exclusive open fail.
  if (fs::is_regular_file(fs::symlink_status(path, ignored)))
    fs::remove(path, ignored);
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  file_pointer file{descriptor < 0 ? nullptr : ::fdopen(descriptor, "w")};
  if (!file || write(file.get()) != 1 || std::fflush(file.get()) != 0)
    return fail(error_kind::io,
                fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  return {};
}

expected<void> make_private_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure)
    fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return fail(error_kind::io,
                fmt::format("{}: {}", folder.string(), failure.message()));
  return {};
}

expected<void> write_certificate(const fs::path& path, X509* certificate) {
  return write_file(path, [&](std::FILE* f) { return PEM_write_X509(f, certificate); });
}

expected<void> write_key(const fs::path& path, EVP_PKEY* key) {
  return write_file(path, [&](std::FILE* f) {
    return PEM_write_PrivateKey(f, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

expected<signer> new_authority(const std::string& name, long days, long days_before = 1) {
  signer made{.certificate = nullptr,
              .key = key_pointer{EVP_EC_gen("P-256")},
              .days = days,
              .days_before = days_before};
  if (!made.key)
    return openssl_failed("key");
  auto certificate = sign(made.key.get(), {.name = name}, made);
  if (!certificate)
    return tl::unexpected(std::move(certificate).error());
  made.certificate = std::move(*certificate);
  made.days = run_days;
  made.days_before = 1;
  return made;
}

expected<void> write_authority(const fs::path& directory, const signer& made) {
  const auto folder = directory / "authority";
  // A folder that somebody has already, perhaps their home, stays as open as it is.
  std::error_code none;
  return (fs::is_directory(directory, none) ? expected<void>{}
                                            : make_private_folder(directory))
      .and_then([&] { return make_private_folder(folder); })
      .and_then(
          [&] { return write_certificate(folder / "cert.pem", made.certificate.get()); })
      .and_then([&] { return write_key(folder / "key.pem", made.key.get()); });
}

template<class Pointer, class Read>
expected<Pointer> read_pem(const fs::path& path, Read read) {
  const file_pointer file{std::fopen(path.c_str(), "re")};
  if (!file)
    return fail(error_kind::not_found,
                fmt::format("{}: {}", path.string(), std::strerror(errno)));
  Pointer read_thing{read(file.get())};
  ERR_clear_error();
  if (!read_thing)
    return fail(error_kind::corrupt, path.string() + " is no PEM file of its kind");
  return read_thing;
}

expected<certificate_pointer> read_certificate(const fs::path& path) {
  return read_pem<certificate_pointer>(
      path, [](std::FILE* f) { return PEM_read_X509(f, nullptr, nullptr, nullptr); });
}

expected<key_pointer> read_key(const fs::path& path) {
  return read_pem<key_pointer>(path, [](std::FILE* f) {
    return PEM_read_PrivateKey(f, nullptr, nullptr, nullptr);
  });
}

expected<signer> read_authority(const fs::path& directory, long days = run_days) {
  auto certificate = read_certificate(directory / "authority" / "cert.pem");
  if (!certificate)
    return fail(certificate.error().kind,
                certificate.error().message + "; clade keys new makes an authority");
  if (X509_cmp_current_time(X509_get0_notAfter(certificate->get())) < 0)
    return fail(error_kind::refused,
                (directory / "authority" / "cert.pem").string()
                    + " is expired, so that it makes no keys any more: make a new "
                      "authority with clade keys new in another folder; a run goes on "
                      "with it after it was stopped, by clade resume --keys");
  const auto key_file = directory / "authority" / "key.pem";
  auto key = check_trusted(key_file, {.secret = true}).and_then([&] {
    return read_key(key_file);
  });
  if (!key)
    return tl::unexpected(std::move(key).error());
  return signer{
      .certificate = std::move(*certificate), .key = std::move(*key), .days = days};
}

expected<void> write_bundle(const fs::path& bundle, const subject& s, const signer& by) {
  const key_pointer key{EVP_EC_gen("P-256")};
  if (!key)
    return openssl_failed("key");
  auto certificate = sign(key.get(), s, by);
  if (!certificate)
    return tl::unexpected(std::move(certificate).error());
  return make_private_folder(bundle)
      .and_then(
          [&] { return write_certificate(bundle / "ca.pem", by.certificate.get()); })
      .and_then(
          [&] { return write_certificate(bundle / "cert.pem", certificate->get()); })
      .and_then([&] { return write_key(bundle / "key.pem", key.get()); });
}

const char* usage_of(bundle_role role) {
  return role == bundle_role::head ? "serverAuth" : "clientAuth";
}

const subject head_subject{"clade head", usage_of(bundle_role::head)};
const subject worker_subject{"clade worker", usage_of(bundle_role::worker)};

expected<void> write_both(const fs::path& directory, const signer& by) {
  return make_private_folder(directory)
      .and_then([&] { return write_bundle(directory / "head", head_subject, by); })
      .and_then([&] { return write_bundle(directory / "worker", worker_subject, by); });
}

/// Another certificate of the same key, at once in the place of the former.
expected<void> sign_again(const fs::path& bundle, const subject& s, const signer& by) {
  auto key = read_key(bundle / "key.pem");
  if (!key)
    return tl::unexpected(std::move(key).error());
  auto certificate = sign(key->get(), s, by);
  if (!certificate)
    return tl::unexpected(std::move(certificate).error());
  const auto fresh = bundle / "cert.pem.new";
  if (auto written = write_certificate(fresh, certificate->get()); !written)
    return written;
  std::error_code failed;
  fs::rename(fresh, bundle / "cert.pem", failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: {}", (bundle / "cert.pem").string(), failed.message()));
  return {};
}

/// In time, signed by the authority, and of this key.
expected<void> check(const key_files& files) {
  auto authority = read_certificate(files.authority);
  auto certificate = read_certificate(files.certificate);
  auto key = read_key(files.key);
  for (const auto* failed :
       {authority ? nullptr : &authority.error(),
        certificate ? nullptr : &certificate.error(), key ? nullptr : &key.error()})
    if (failed != nullptr)
      return tl::unexpected(*failed);
  const auto wrong = [&](const std::string& why) {
    return fail(error_kind::invalid_input,
                fmt::format("{} {}", files.certificate.string(), why));
  };
  // Which passes: a head renews its own and its workers'.
  const auto not_in_time = [&](const std::string& why) {
    return fail(error_kind::refused,
                fmt::format("{} {}", files.certificate.string(), why));
  };
  if (X509_cmp_current_time(X509_get0_notAfter(certificate->get())) < 0)
    return not_in_time(
        "is expired: copy it again from the run's folder, which has a newer one in "
        "keys/worker while the run goes on, or make one with clade keys worker");
  if (X509_cmp_current_time(X509_get0_notBefore(certificate->get())) > 0)
    return not_in_time("is not valid yet: is this machine's clock right?");
  if (X509_check_private_key(certificate->get(), key->get()) != 1)
    return wrong("is not the certificate of key.pem beside it");
  if (X509_verify(certificate->get(), X509_get0_pubkey(authority->get())) != 1)
    return wrong("is not signed by the authority in ca.pem beside it");
  return {};
}

} // namespace

expected<void> make_authority(const fs::path& directory) {
  const auto folder = directory / "authority";
  if (fs::exists(folder / "key.pem"))
    return fail(error_kind::conflict, folder.string()
                                          + " has an authority; clade keys worker makes "
                                            "bundles with it");
  auto made = new_authority("clade authority", authority_days);
  if (!made)
    return tl::unexpected(std::move(made).error());
  return write_authority(directory, *made);
}

expected<void> make_bundle(const fs::path& directory, const fs::path& bundle,
                           bundle_role role, const std::string& name) {
  return read_authority(directory, authority_days).and_then([&](const signer& by) {
    return write_bundle(bundle, {"clade " + name, usage_of(role)}, by);
  });
}

expected<void> make_run_keys(const fs::path& directory) {
  return new_authority("clade run", run_authority_days, run_authority_days)
      .and_then([&](const signer& by) {
        return write_both(directory, by).and_then([&] {
          return write_authority(directory, by);
        });
      });
}

expected<void> make_run_keys(const fs::path& directory, const fs::path& authority) {
  return read_authority(authority).and_then(
      [&](const signer& by) { return write_both(directory, by); });
}

key_renewal::key_renewal(fs::path directory, fs::path authority)
    : directory_(std::move(directory)),
      authority_(std::move(authority)),
      from_(clock::now() - one_day),
      until_(clock::now() + run_days / 2 * one_day) {}

expected<void> key_renewal::renew() {
  auto by = read_authority(authority_);
  if (!by)
    return tl::unexpected(std::move(by).error());
  return sign_again(directory_ / "head", head_subject, *by).and_then([&] {
    return sign_again(directory_ / "worker", worker_subject, *by);
  });
}

expected<bool> key_renewal::renew_if_due() {
  const auto now = clock::now();
  if (now >= from_ && now < until_)
    return false;
  const auto done = renew();
  from_ = now - one_day;
  until_ = now + (done ? run_days / 2 : 1) * one_day;
  return done.map([] { return true; });
}

expected<key_files> find_keys(const fs::path& bundle) {
  key_files result{.authority = bundle / "ca.pem",
                   .certificate = bundle / "cert.pem",
                   .key = bundle / "key.pem"};
  for (const auto& file : {result.authority, result.certificate, result.key})
    if (::access(file.c_str(), R_OK) != 0)
      return fail(error_kind::not_found,
                  file.string()
                      + " is missing or not readable: --keys names a bundle, the folder "
                        "with ca.pem, cert.pem and key.pem");
  return check_trusted(result.key, {.secret = true})
      .and_then([&] { return check_trusted(result.authority); })
      .and_then([&] { return check_trusted(result.certificate); })
      .and_then([&] { return check(result); })
      .map([&] { return result; });
}

} // namespace clade
