// Finds what is recorded of one candidate: the tables for queries say which record it is,
// and that record is checked like all others.
#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

namespace clade {

expected<record> store::impl::find_record(const char* query, candidate_id id) const {
  SQLite::Statement place(connected.db, query);
  place.bind(1, as_signed(id));
  if (!place.executeStep())
    return fail(error_kind::not_found,
                fmt::format("{}: nothing of that kind is recorded of #{}",
                            connected.file.string(), id));
  const auto sequence = natural(place.getColumn(0));
  SQLite::Statement found(connected.db,
                          "select unix_ms, kind, payload, checksum, "
                          "(select checksum from records where sequence = ?1 - 1) "
                          "from records where sequence = ?1");
  found.bind(1, as_signed(sequence));
  const auto damaged = [&](const std::string& how) {
    return fail(
        error_kind::corrupt,
        fmt::format("{}: record {} {}: the file is damaged; {} says what is whole",
                    connected.file.string(), sequence, how,
                    check_command(connected.file)));
  };
  if (!found.executeStep())
    return damaged("is missing");
  const auto payload = bytes_of(found.getColumn(2));
  if (chained_checksum(natural(found.getColumn(4)), sequence,
                       found.getColumn(0).getInt64(), found.getColumn(1).getInt64(),
                       payload)
      != natural(found.getColumn(3)))
    return damaged("does not match its checksum");
  auto r = decode_record(payload);
  if (!r)
    return damaged(fmt::format("cannot be read ({})", r.error().message));
  return r;
}

tl::unexpected<error> misplaced(const connection& c, candidate_id id) {
  return fail(error_kind::corrupt,
              fmt::format("{}: another record in the place of #{}: the file is damaged; "
                          "{} says what is whole",
                          c.file.string(), id, check_command(c.file)));
}

expected<std::uint64_t> store::identity() const {
  return guarded(impl_->connected, [&]() -> expected<std::uint64_t> {
    SQLite::Statement first(impl_->connected.db,
                            "select checksum from records where sequence = 1");
    if (!first.executeStep())
      return fail(error_kind::not_found,
                  impl_->connected.file.string() + ": nothing is recorded");
    return natural(first.getColumn(0));
  });
}

expected<candidate> store::find_candidate(candidate_id id) const {
  return guarded(impl_->connected, [&]() -> expected<candidate> {
    auto r = impl_->find_record("select sequence from genomes where id = ?", id);
    if (!r && r.error().kind == error_kind::not_found)
      return no_candidate(impl_->connected, id);
    if (!r)
      return tl::unexpected(r.error());
    auto* born = std::get_if<candidate_born>(&*r);
    if (born == nullptr || born->born.id != id)
      return misplaced(impl_->connected, id);
    return std::move(born->born);
  });
}

expected<evaluation> store::find_evaluation(candidate_id id) const {
  return guarded(impl_->connected, [&]() -> expected<evaluation> {
    auto r = impl_->find_record("select sequence from evaluations where id = ?", id);
    if (!r && r.error().kind == error_kind::not_found
        && !impl_->find_record("select sequence from genomes where id = ?", id))
      return no_candidate(impl_->connected, id);
    if (!r && r.error().kind == error_kind::not_found)
      return fail(error_kind::not_found, fmt::format("{}: #{} has no evaluation",
                                                     impl_->connected.file.string(), id));
    if (!r)
      return tl::unexpected(r.error());
    auto* evaluated = std::get_if<candidate_evaluated>(&*r);
    if (evaluated == nullptr || evaluated->evaluated.id != id)
      return misplaced(impl_->connected, id);
    return std::move(evaluated->evaluated);
  });
}

expected<blob> store::find_weights(candidate_id id) const {
  const auto damaged = [&] {
    return fail(error_kind::corrupt,
                fmt::format("{}: the weights of #{} do not match their checksum: the "
                            "file is damaged; {} says what is whole",
                            impl_->connected.file.string(), id,
                            check_command(impl_->connected.file)));
  };
  return guarded(impl_->connected, [&]() -> expected<blob> {
    SQLite::Statement found(impl_->connected.db,
                            "select bytes, checksum from weights where id = ?");
    found.bind(1, as_signed(id));
    if (!found.executeStep()) {
      auto large = impl_->large_weights.read(id);
      if (large.empty() && impl_->large_weights.ids().contains(id))
        return damaged();
      return large;
    }
    const auto weights = bytes_of(found.getColumn(0));
    if (hash64(weights) != natural(found.getColumn(1)))
      return damaged();
    return blob(bytes(weights.begin(), weights.end()));
  });
}

} // namespace clade
