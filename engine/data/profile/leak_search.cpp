#include "engine/data/profile/leak_search.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/leaks/sum_leak.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <limits>

namespace clade {
namespace {

void add_value(sampled_column& column, std::string_view field, const number_form& form) {
  if (!column.number) {
    column.codes.push_back(hash64(field));
    return;
  }
  const auto n = field_number(field, form);
  column.numbers.push_back(n.value_or(std::numeric_limits<double>::quiet_NaN()));
}

/// The columns of the targets; none where they are in a file of their own.
std::vector<std::size_t> target_columns(const data_profile& p) {
  if (!p.targets.empty())
    return p.targets;
  return p.target_column ? std::vector{*p.target_column} : std::vector<std::size_t>();
}

/// One target whose leaks are looked for.
class leak_search {
public:
  leak_search(data_profile& p, const sampled_column& target, std::string name)
      : profile_(p),
        target_(target),
        name_(std::move(name)) {}

  void try_all(const std::vector<sampled_column>& columns,
               const std::vector<sampled_column>& blanks) {
    auto others = columns;
    bool alone = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool gives =
          is_used(i) && try_column(columns[i], blanks[i], profile_.label(i));
      alone = alone || gives;
      others[i].number = others[i].number && is_used(i) && !gives;
    }
    try_together(std::move(others), alone);
  }

private:
  [[nodiscard]] bool is_used(std::size_t column) const {
    return !profile_.is_apart(column)
           && use_of(profile_.table.columns[column]).ignored == ignore_reason::none;
  }

  /// Whether its values give the target away.
  bool try_column(const sampled_column& column, const sampled_column& blanks,
                  const std::string& label) {
    const auto share = gives_away(column, target_);
    const auto by_blanks = share ? std::nullopt : blanks_give_away(blanks, target_);
    if (share || by_blanks)
      profile_.suspicions.push_back({.kind = share ? suspicion_kind::gives_target_away
                                                   : suspicion_kind::blanks_give_away,
                                     .column = label,
                                     .target = name_,
                                     .share = share ? *share : *by_blanks});
    return share.has_value();
  }

  /// Each column that makes the target up by itself is named; several that do so together
  /// are if none does `alone`.
  void try_together(std::vector<sampled_column> columns, bool alone) {
    constexpr int most = 8;
    for (int named = 0; named < most; ++named) {
      const auto sum = adds_up(columns, target_);
      if (!sum || (alone && sum->columns.size() > 1))
        return;
      alone = true;
      suspicion s{.kind = suspicion_kind::make_up_target,
                  .target = name_,
                  .value = sum->multiplied ? "product" : "sum",
                  .share = sum->share};
      for (const std::size_t i : sum->columns) {
        s.names.push_back(profile_.label(i));
        columns[i].number = false;
      }
      profile_.suspicions.push_back(std::move(s));
    }
  }

  data_profile& profile_;
  const sampled_column& target_;
  std::string name_; ///< Empty where it is the only one.
};

} // namespace

sampled_rows sample_rows(const data_profile& p, csv_rows rows, const csv_form& form,
                         const std::vector<std::string>& targets) {
  const auto& table = p.table.columns;
  const std::size_t width = table.size();
  const std::size_t most =
      std::clamp<std::size_t>(2'000'000 / std::max<std::size_t>(width, 1), 100, 20'000);
  const std::uint64_t stride = std::max<std::uint64_t>(1, p.rows / most);
  const auto of_targets = target_columns(p);
  sampled_rows out{.columns = std::vector<sampled_column>(width),
                   .blanks = std::vector<sampled_column>(width),
                   .targets = std::vector<sampled_column>(
                       std::max<std::size_t>(of_targets.size(), 1))};
  std::vector<number_form> forms;
  for (std::size_t i = 0; i < width; ++i) {
    out.columns[i].number = table[i].kind == column_kind::number;
    forms.push_back(form.number(i));
  }
  for (std::size_t i = 0; i < out.targets.size(); ++i)
    out.targets[i].number = p.targets.empty()
                                ? !p.task.has_classes()
                                : table[of_targets[i]].kind != column_kind::yes_no;
  csv_row r;
  for (std::uint64_t row = 0; rows.next(r).value_or(false); ++row) {
    if (row % stride != 0)
      continue;
    for (std::size_t i = 0; i < width; ++i) {
      add_value(out.columns[i], r.fields[i], forms[i]);
      if (table[i].blanks > 0)
        out.blanks[i].codes.push_back(field_blank_number(r.fields[i]) ? 1 : 0);
    }
    if (!targets.empty())
      add_value(out.targets[0], targets[row], number_form{form.decimal});
    else
      for (std::size_t i = 0; i < of_targets.size(); ++i)
        add_value(out.targets[i], r.fields[of_targets[i]], forms[of_targets[i]]);
  }
  return out;
}

void suspect_leaks(data_profile& p, const sampled_rows& sample) {
  for (std::size_t i = 0; i < sample.targets.size(); ++i)
    leak_search(p, sample.targets[i], p.targets.empty() ? "" : p.label(p.targets[i]))
        .try_all(sample.columns, sample.blanks);
}

} // namespace clade
