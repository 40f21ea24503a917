#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace clade {

/// The files in which a process finds the parts that TLS needs: the authority that both
/// sides trust and its own certificate and key, all PEM.
struct key_files {
  std::filesystem::path authority;
  std::filesystem::path certificate;
  std::filesystem::path key;
};

/// A bundle is a folder of mode 0700 with ca.pem, cert.pem and key.pem, of mode 0600: all
/// that one process needs to be let in. A worker's is taken for a worker only, a head's
/// for a head only.
enum class bundle_role { head, worker };

/// Makes an authority that signs bundles: `directory`/authority/{cert,key}.pem (EC P-256,
/// valid for a year). `conflict` if there is one.
[[nodiscard]] expected<void> make_authority(const std::filesystem::path& directory);

/// A bundle signed by the authority in `directory`, valid for a year, in the place of
/// what was in `bundle`.
[[nodiscard]] expected<void> make_bundle(const std::filesystem::path& directory,
                                         const std::filesystem::path& bundle,
                                         bundle_role role, const std::string& name);

/// Makes an authority of its own for one run, and `directory`/{head,worker}, bundles
/// signed by it and valid for 30 days (`key_renewal`). Replaces what an earlier start of
/// the run left there.
[[nodiscard]] expected<void> make_run_keys(const std::filesystem::path& directory);

/// The same, signed by the authority in `authority`.
[[nodiscard]] expected<void> make_run_keys(const std::filesystem::path& directory,
                                           const std::filesystem::path& authority);

/// Keeps the bundles of a run, `directory`/{head,worker}, in time, however long the run
/// goes on and whatever its clock does: signs them again, with the keys they have, when
/// half of their time is over, or the clock was set back. Processes read them for each
/// connection; connections that there are do not end.
class key_renewal {
public:
  /// Renews bundles that are new. `authority`: the folder with the authority that
  /// signed them, as for `make_bundle`.
  key_renewal(std::filesystem::path directory, std::filesystem::path authority);

  expected<void> renew();
  /// True: they were signed again. Tries once a day where that fails. Costs a look at the
  /// clock otherwise.
  expected<bool> renew_if_due();

private:
  using clock = std::chrono::system_clock; ///< The clock that certificates use.

  std::filesystem::path directory_, authority_;
  clock::time_point from_, until_; ///< Nothing is due between them.
};

/// The files of a bundle, checked: an error says which of them is missing, is not ours, may
/// be read or changed by others, is expired, or does not belong to the rest, and what to do
/// about it.
[[nodiscard]] expected<key_files> find_keys(const std::filesystem::path& bundle);

} // namespace clade
