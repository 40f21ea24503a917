// A store is examined by making it anew: its records, as far as their checksums hold, are
// taken into a fresh store, which derives the tables for queries; then table after table
// is compared, row by row (compared_tables.hpp).
//
// Everything is read in one transaction, so that a run may go on meanwhile.
#include "engine/store/repair/survey.hpp"

#include "engine/store/repair/compared_tables.hpp"
#include "engine/store/repair/damaged_rows.hpp"
#include "engine/store/repair/salvage_copy.hpp"
#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/log.hpp"
#include "engine/store/sqlite/objective_table.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <fstream>
#include <optional>

namespace clade {

namespace {

std::string record_name(std::uint64_t sequence) {
  return fmt::format("record {}", sequence);
}

bool is_record_row(damaged_rows& r) {
  constexpr std::array types{SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_BLOB,
                             SQLITE_INTEGER};
  for (int i = 0; i < r.columns(); ++i)
    if (r.at(i).getType() != types.at(static_cast<std::size_t>(i)))
      return false;
  return true;
}

/// Copies the records that are whole, from the first on. Returns what is wrong with the
/// next, or nothing if there is none.
expected<std::string> copy_records(const connection& from, salvage_copy& to,
                                   std::uint64_t& whole) {
  damaged_rows all(from, "select sequence, unix_ms, kind, payload, checksum from records "
                         "order by sequence");
  std::uint64_t checksum = 0;
  for (whole = 0;;) {
    auto fault = all.next();
    if (!fault)
      return fault;
    const auto next = record_name(whole + 1) + " ";
    if (!fault->empty())
      return next + *fault;
    if (!all.there())
      return "";
    const stored_record row{.sequence = natural(all.at(0)),
                            .unix_ms = all.at(1).getInt64(),
                            .kind = all.at(2).getInt64(),
                            .payload = bytes_of(all.at(3)),
                            .checksum = natural(all.at(4))};
    if (row.sequence != whole + 1)
      return next + "is missing";
    checksum =
        chained_checksum(checksum, row.sequence, row.unix_ms, row.kind, row.payload);
    if (checksum != row.checksum || !is_record_row(all))
      return next + "does not match its checksum";
    const auto r = decode_record(row.payload);
    if (!r)
      return fmt::format("{}cannot be read ({})", next, r.error().message);
    to.add(row, *r);
    whole = row.sequence;
  }
}

std::string weights_of(candidate_id id) {
  return id == 0 ? "the weights of the final model's members that are no candidates"
                 : fmt::format("the weights of #{}", id);
}

/// Tells the whole weights from the others, and copies them if the copy is to be kept.
expected<void> check_weights(const connection& from, salvage_copy& to, bool kept,
                             store_condition& found) {
  damaged_rows all(from, "select id, checksum, bytes from weights order by id");
  for (;;) {
    const auto fault = all.next();
    if (!fault)
      return tl::unexpected(fault.error());
    if (!fault->empty())
      found.weights_faults.push_back(
          fmt::format("weights {}{}",
                      found.weights.empty()
                          ? std::string()
                          : fmt::format("behind those of #{} ", found.weights.back()),
                      *fault));
    if (!fault->empty() || !all.there())
      return {};
    const auto id = natural(all.at(0));
    const auto weights = bytes_of(all.at(2));
    const auto of = weights_of(id);
    const auto hash = to.weights_hash(id, natural(all.at(1)));
    if (!hash) {
      found.weights_faults.push_back(of
                                     + (id == 0 ? " have no record that is whole"
                                                : " have no evaluation that is whole"));
    } else if (hash64(weights) != natural(all.at(1)) || *hash != natural(all.at(1))
               || all.at(1).getType() != SQLITE_INTEGER
               || all.at(2).getType() != SQLITE_BLOB) {
      found.weights_faults.push_back(of + " do not match their checksum");
    } else {
      found.weights.push_back(id);
      if (kept)
        to.add_weights(id, weights);
    }
  }
}

/// Tells the whole ones of the weights that lie beside the store, where they stay.
/// Weights without an evaluation came just before the process was killed, and are no
/// damage.
void check_large_weights(const std::filesystem::path& file, salvage_copy& to,
                         store_condition& found) {
  const blob_folder large(file.parent_path() / weights_folder_name);
  for (const auto id : large.ids()) {
    const auto weights = large.read(id);
    const auto hash = to.weights_hash(id, weights.checksum());
    if (hash && !weights.empty() && *hash == weights.checksum())
      found.weights.push_back(id);
    else if (hash)
      found.weights_faults.push_back(weights_of(id) + " do not match their checksum");
  }
}

/// Returns the fault of the first 100 bytes. An error is no damage.
expected<std::string> header_fault(const std::filesystem::path& file) {
  const auto checked = check_header(file);
  if (!checked && checked.error().kind != error_kind::corrupt)
    return tl::unexpected(checked.error());
  if (!checked)
    return "its header is not that of a run's store";
  // Bytes 18 and 19 say 2 where there is a log. With another number SQLite would
  // overlook it.
  std::array<char, 20> header{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(header.data(), header.size()))
    return fail(error_kind::io, file.string() + ": cannot be read");
  if (header[18] != 2 || header[19] != 2)
    return "its header denies the log";
  // The part that is cut off of the last page may be an empty part of it.
  const auto page = static_cast<unsigned char>(header[16]) << 8
                    | static_cast<unsigned char>(header[17]);
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be read: {}", file.string(), failed.message()));
  return page > 1 && size % static_cast<std::uintmax_t>(page) != 0
             ? "its last page is cut off"
             : "";
}

expected<std::string> integrity_fault(const connection& c) {
  damaged_rows checked(c, "pragma integrity_check(1)");
  auto fault = checked.next();
  if (!fault || !fault->empty())
    return fault;
  const auto said = checked.there() ? checked.at(0).getString() : "nothing is said";
  return said == "ok" ? "" : one_line(said);
}

expected<std::string> log_fault(const std::filesystem::path& file) {
  return examine_log(file).map([&](const log_condition& log) -> std::string {
    if (!log.damaged())
      return "";
    return fmt::format(
        "{} transactions at the end of {}-wal {}", log.left_out, file.filename().string(),
        log.first_bad_frame == 0
            ? "have no header that matches its checksum"
            : fmt::format("begin with frame {}, which does not match its checksum",
                          log.first_bad_frame));
  });
}

/// The objective as the tables have it; the default if they cannot be read.
expected<objective> objective_table(const connection& c) {
  damaged_rows run(c, "select metric, maximize from runs");
  return run.next().map([&](const std::string& fault) {
    if (!fault.empty() || !run.there())
      return objective{};
    const objective first{.metric = run.at(0).getString(),
                          .maximize = run.at(1).getInt64() != 0};
    try {
      return read_goal(c.db);
    } catch (const SQLite::Exception&) {
      return first; // The rest of it is damaged; the first record says it, where it can.
    }
  });
}

expected<void> survey_content(const survey_params& params, const connection& from,
                              store_condition& found) {
  const auto goal = objective_table(from);
  if (!goal)
    return tl::unexpected(goal.error());
  damaged_rows progress(from, "select records from progress");
  if (const auto fault = progress.next(); !fault)
    return tl::unexpected(fault.error());
  if (progress.there())
    found.written = natural(progress.at(0));
  salvage_copy copy(params.make_copy(), params.goal_of, *goal);
  auto fault = copy_records(from, copy, found.records);
  if (!fault)
    return tl::unexpected(fault.error());
  found.record_fault = std::move(*fault);
  if (found.record_fault.empty() && found.written > found.records)
    found.record_fault = record_name(found.records + 1) + " is missing";
  copy.complete_tables();
  if (found.record_fault.empty()) {
    fault = compare_tables(from, copy.target());
    if (!fault)
      return tl::unexpected(fault.error());
    found.table_fault = std::move(*fault);
  }
  fault = find_additions(from, copy.target(), found.additions);
  if (!fault)
    return tl::unexpected(fault.error());
  if (found.table_fault.empty())
    found.table_fault = std::move(*fault);
  if (auto ok = check_weights(from, copy, params.keep_copy, found); !ok)
    return ok;
  check_large_weights(params.file, copy, found);
  if (params.keep_copy)
    copy.close();
  return {};
}

} // namespace

expected<store_condition> survey(const survey_params& params) {
  const auto& file = params.file;
  store_condition found;
  auto fault = header_fault(file);
  if (!fault)
    return tl::unexpected(fault.error());
  found.file_fault = std::move(*fault);
  if (params.locked || !writer_of(file)) {
    fault = log_fault(file);
    if (!fault)
      return tl::unexpected(fault.error());
    found.log_fault = std::move(*fault);
  }
  std::optional<connection> from;
  const auto opens = [&](connection (*open)(const std::filesystem::path&)) {
    return read_damaged(file, [&] {
      from.emplace(open(file));
      from->db.exec("begin");
    });
  };
  fault = opens(connection::open_to_read);
  if (fault && !fault->empty()) {
    if (found.file_fault.empty())
      found.file_fault = "it " + *fault;
    fault = opens(connection::open_damaged);
  }
  if (!fault)
    return tl::unexpected(fault.error());
  if (!fault->empty()) {
    found.record_fault = fmt::format("{} {}", record_name(1), *fault);
    return found;
  }
  try {
    if (auto ok = survey_content(params, *from, found); !ok)
      return tl::unexpected(ok.error());
  } catch (const SQLite::Exception& e) {
    return fail_in("while its records were copied", store_failure(file, e).value());
  } catch (const error& e) {
    return fail_in(file.string() + ": while its records were copied", e);
  }
  // Last, since it is the longest and what was found before says more.
  fault = integrity_fault(*from);
  if (!fault)
    return tl::unexpected(fault.error());
  if (found.file_fault.empty())
    found.file_fault = std::move(*fault);
  return found;
}

} // namespace clade
