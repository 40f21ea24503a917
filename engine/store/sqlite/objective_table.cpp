// aims(position, metric, direction, bound): in the order of the objective. The direction
// is 'maximize', 'minimize', 'at_most' or 'at_least'; only the last two have a bound.
#include "engine/store/sqlite/objective_table.hpp"

#include <optional>

namespace clade {

namespace {

constexpr const char* aims_table = "create table if not exists aims (\n"
                                   "  position  integer primary key,\n"
                                   "  metric    text not null,\n"
                                   "  direction text not null,\n"
                                   "  bound     real\n"
                                   ")";

void insert(SQLite::Statement& s, const std::string& metric, const char* direction,
            const std::optional<double>& bound) {
  s.reset();
  s.bind(1, metric);
  s.bind(2, direction);
  if (bound)
    s.bind(3, *bound);
  else
    s.bind(3);
  s.exec();
}

} // namespace

void write_goal(SQLite::Database& db, const objective& goal) {
  SQLite::Statement run(db, "update runs set metric = ?, maximize = ?");
  run.bind(1, goal.metric);
  run.bind(2, goal.maximize ? 1 : 0);
  run.exec();
  db.exec("drop table if exists aims");
  if (goal.others.empty() && goal.constraints.empty())
    return;
  db.exec(aims_table);
  SQLite::Statement put(db,
                        "insert into aims (metric, direction, bound) values (?, ?, ?)");
  for (const auto& a : aims_of(goal))
    insert(put, a.metric, a.maximize ? "maximize" : "minimize", std::nullopt);
  for (const auto& c : goal.constraints)
    insert(put, c.metric, c.at_most ? "at_most" : "at_least", c.limit);
}

objective read_goal(const SQLite::Database& db) {
  objective goal;
  SQLite::Statement run(db, "select metric, maximize from runs");
  if (!run.executeStep())
    return goal;
  goal.metric = run.getColumn(0).getString();
  goal.maximize = run.getColumn(1).getInt() != 0;
  SQLite::Statement there(
      db, "select count(*) from sqlite_schema where type = 'table' and name = 'aims'");
  if (!there.executeStep() || there.getColumn(0).getInt() == 0)
    return goal;
  SQLite::Statement all(db,
                        "select metric, direction, bound from aims where position > 1 "
                        "order by position");
  while (all.executeStep()) {
    const auto metric = all.getColumn(0).getString();
    const auto direction = all.getColumn(1).getString();
    if (direction == "maximize" || direction == "minimize")
      goal.others.push_back({metric, direction == "maximize"});
    else
      goal.constraints.push_back(
          {metric, all.getColumn(2).getDouble(), direction == "at_most"});
  }
  return goal;
}

} // namespace clade
