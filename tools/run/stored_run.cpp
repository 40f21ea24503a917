#include "tools/run/stored_run.hpp"

#include "engine/store/run_folder.hpp"

namespace clade {

expected<opened_run> open_stored_run(const std::string& name) {
  return find_store(name).and_then([](const std::filesystem::path& file) {
    return store::open_to_read(file).and_then([&](store s) {
      return s.hold().map([&] { return opened_run{.s = std::move(s), .file = file}; });
    });
  });
}

error nothing_recorded(const std::filesystem::path& store_file) {
  const auto log = store_file.filename().string() + "-wal";
  const auto with_log = store_file.filename().string() + " and " + log;
  std::error_code failed;
  const bool began =
      std::filesystem::exists(store_file.parent_path() / "head.log", failed);
  return {error_kind::corrupt,
          store_file.string() + ": holds no record"
              + (began
                     ? ", and yet the run had begun, as head.log beside it shows: its "
                       "log "
                           + log
                           + " is lost, or was left behind when the run was copied; put "
                             "it back beside it, or copy "
                           + with_log + " together"
                     : ": the run was killed at its start, or this file was copied "
                       "without its log "
                           + log + "; copy " + with_log + " together")
              + ", or start the run again: clade run FILE"};
}

} // namespace clade
