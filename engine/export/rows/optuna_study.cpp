// The tables are those that optuna 4.9 makes (optuna/storages/_rdb/models.py, schema 12);
// `alembic_version` is the latest step of their upgrades. A categorical value is stored
// as its place among the choices.

#include "engine/export/rows/optuna_study.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace clade {
namespace {

using json = nlohmann::ordered_json;

constexpr int cannot_open = 14; // SQLITE_CANTOPEN

constexpr const char* schema = R"(
create table alembic_version (version_num VARCHAR(32) NOT NULL primary key);
create table version_info (version_info_id INTEGER NOT NULL PRIMARY KEY check (version_info_id=1),
  schema_version INTEGER, library_version VARCHAR(256));
create table studies (study_id INTEGER NOT NULL PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
create table study_directions (study_direction_id INTEGER NOT NULL PRIMARY KEY, direction VARCHAR(8) NOT NULL,
  study_id INTEGER NOT NULL REFERENCES studies (study_id), objective INTEGER NOT NULL, UNIQUE (study_id, objective));
create table study_system_attributes (study_system_attribute_id INTEGER NOT NULL PRIMARY KEY,
  study_id INTEGER REFERENCES studies (study_id), "key" VARCHAR(512), value_json TEXT, UNIQUE (study_id, "key"));
create table study_user_attributes (study_user_attribute_id INTEGER NOT NULL PRIMARY KEY,
  study_id INTEGER REFERENCES studies (study_id), "key" VARCHAR(512), value_json TEXT, UNIQUE (study_id, "key"));
create table trials (trial_id INTEGER NOT NULL PRIMARY KEY, number INTEGER,
  study_id INTEGER REFERENCES studies (study_id), state VARCHAR(8) NOT NULL, datetime_start DATETIME,
  datetime_complete DATETIME);
create table trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trials (trial_id), heartbeat DATETIME NOT NULL, UNIQUE (trial_id));
create table trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trials (trial_id), step INTEGER NOT NULL, intermediate_value FLOAT,
  intermediate_value_type VARCHAR(7) NOT NULL, UNIQUE (trial_id, step));
create table trial_params (param_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER REFERENCES trials (trial_id),
  param_name VARCHAR(512), param_value FLOAT, distribution_json TEXT, UNIQUE (trial_id, param_name));
create table trial_system_attributes (trial_system_attribute_id INTEGER NOT NULL PRIMARY KEY,
  trial_id INTEGER REFERENCES trials (trial_id), "key" VARCHAR(512), value_json TEXT, UNIQUE (trial_id, "key"));
create table trial_user_attributes (trial_user_attribute_id INTEGER NOT NULL PRIMARY KEY,
  trial_id INTEGER REFERENCES trials (trial_id), "key" VARCHAR(512), value_json TEXT, UNIQUE (trial_id, "key"));
create table trial_values (trial_value_id INTEGER NOT NULL PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trials (trial_id), objective INTEGER NOT NULL, value FLOAT,
  value_type VARCHAR(7) NOT NULL, UNIQUE (trial_id, objective));
create unique index ix_studies_study_name on studies (study_name);
create index ix_trials_study_id on trials (study_id);
insert into alembic_version values ('v3.2.0.a');
insert into version_info values (1, 12, '4.9.0');
)";

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const value& v) {
  return std::visit([](const auto& held) { return json(held); }, v);
}

/// "2026-01-31 14:05:00.123000", local, as Optuna has it.
std::string datetime(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  const auto ms = std::to_string(1000 + unix_ms % 1000).substr(1);
  return fmt::format("{}.{}000", text, ms);
}

/// A hyperparameter as a param: its distribution, and how a value is stored.
struct param {
  std::string name;
  std::string distribution;
  std::vector<value> choices; ///< The choices of a categorical parameter.

  [[nodiscard]] double stored(const value& v) const {
    if (!choices.empty())
      return static_cast<double>(std::ranges::find(choices, v) - choices.begin());
    if (const auto* whole = std::get_if<std::int64_t>(&v))
      return static_cast<double>(*whole);
    return std::get<double>(v);
  }
};

json distribution_of(const real_domain& d) {
  return {{"name", "FloatDistribution"},
          {"attributes",
           {{"step", nullptr}, {"low", d.low}, {"high", d.high}, {"log", d.log}}}};
}
json distribution_of(const integer_domain& d) {
  // Optuna takes no step beside a logarithm, and the highest value only on a step.
  const auto step = d.log ? 1 : d.step;
  return {{"name", "IntDistribution"},
          {"attributes",
           {{"log", d.log},
            {"step", step},
            {"low", d.low},
            {"high", d.low + (d.high - d.low) / step * step}}}};
}
json distribution_of(const choice_domain& d) {
  json choices = json::array();
  for (const auto& option : d.options)
    choices.push_back(json_of(option));
  json attributes;
  attributes["choices"] = std::move(choices);
  json out;
  out["name"] = "CategoricalDistribution";
  out["attributes"] = std::move(attributes);
  return out;
}

param param_of(const parameter& p) {
  param out{.name = p.name, .distribution = {}, .choices = {}};
  if (const auto* real = std::get_if<real_domain>(&p.domain)) {
    out.distribution = dump(distribution_of(*real));
  } else if (const auto* whole = std::get_if<integer_domain>(&p.domain)) {
    out.distribution = dump(distribution_of(*whole));
  } else {
    const auto& choice = std::get<choice_domain>(p.domain);
    out.distribution = dump(distribution_of(choice));
    out.choices = choice.options;
  }
  return out;
}

class study_writer {
public:
  study_writer(const experiment& e, const std::filesystem::path& file)
      : goal_(e.objective),
        db_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE),
        all_(made(db_)),
        insert_trial_(db_, "insert into trials values (?, ?, 1, ?, ?, ?)"),
        insert_value_(db_, "insert into trial_values values (null, ?, ?, ?, 'FINITE')"),
        insert_param_(db_, "insert into trial_params values (null, ?, ?, ?, ?)"),
        insert_step_(db_,
                     "insert into trial_intermediate_values values (null, ?, ?, ?, ?)"),
        insert_attribute_(db_,
                          "insert into trial_user_attributes values (null, ?, ?, ?)") {
    for (const auto& h : e.space.rules.hyperparameters)
      params_.push_back(param_of(h));
  }

  void write_study(const std::string& name, const std::string& title) {
    execute("insert into studies values (1, ?)", {name});
    json names = json::array();
    for (const auto& a : aims_of(goal_)) {
      execute("insert into study_directions values (null, ?, 1, ?)",
              {a.maximize ? "MAXIMIZE" : "MINIMIZE", std::to_string(names.size())});
      names.push_back(a.metric);
    }
    execute("insert into study_system_attributes values (1, 1, 'study:metric_names', ?)",
            {dump(names)});
    execute("insert into study_user_attributes values (1, 1, 'experiment', ?)",
            {dump(title)});
  }

  void write_trial(const trial& t) {
    const auto id = static_cast<std::int64_t>(t.candidate.id);
    const auto* done = t.evaluated ? &*t.evaluated : nullptr;
    const auto fitness = done != nullptr ? fitness_of(*done, goal_) : clade::fitness{};
    insert_trial_.reset();
    insert_trial_.bind(1, id);
    insert_trial_.bind(2, id - 1);
    insert_trial_.bind(3, done == nullptr ? "WAITING" : fitness.ok ? "COMPLETE" : "FAIL");
    if (done != nullptr) {
      insert_trial_.bind(4, datetime(t.born_ms));
      insert_trial_.bind(5, datetime(t.evaluated_ms));
    } else {
      insert_trial_.bind(4);
      insert_trial_.bind(5);
    }
    insert_trial_.exec();
    const auto aims = aims_of(goal_);
    for (std::size_t i = 0; fitness.ok && i < aims.size(); ++i)
      run(insert_value_, id, static_cast<std::int64_t>(i),
          *measured(*done, aims[i].metric));
    write_params(id, t.candidate);
    write_attributes(id, t);
    if (done != nullptr)
      for (const auto& e : done->curve)
        write_epoch(id, e);
  }

  void commit() { all_.commit(); }

private:
  static SQLite::Database& made(SQLite::Database& db) {
    db.exec(schema);
    return db;
  }

  template<class... Values>
  static void run(SQLite::Statement& s, const Values&... values) {
    s.reset();
    int index = 0;
    (s.bind(++index, values), ...);
    s.exec();
  }

  void execute(const char* sql, const std::vector<std::string>& values) {
    SQLite::Statement s(db_, sql);
    for (std::size_t i = 0; i < values.size(); ++i)
      s.bind(static_cast<int>(i) + 1, values[i]);
    s.exec();
  }

  void write_params(std::int64_t id, const candidate& c) {
    for (const auto& p : params_)
      if (const auto* v = find(c.genome->hyperparameters, p.name))
        run(insert_param_, id, p.name, p.stored(*v), p.distribution);
  }

  void write_epoch(std::int64_t id, const epoch& e) {
    // Optuna has intermediate values of a single objective alone.
    const auto v = goal_.others.empty() ? find(e.metrics, goal_.metric) : std::nullopt;
    if (!v)
      return;
    const auto number = static_cast<std::int64_t>(e.number);
    if (std::isfinite(*v))
      return run(insert_step_, id, number, *v, "FINITE");
    const char* kind = std::isnan(*v) ? "NAN" : *v > 0 ? "INF_POS" : "INF_NEG";
    insert_step_.reset();
    insert_step_.bind(1, id);
    insert_step_.bind(2, number);
    insert_step_.bind(3);
    insert_step_.bind(4, kind);
    insert_step_.exec();
  }

  void attribute(std::int64_t id, const char* name, const json& v) {
    run(insert_attribute_, id, name, dump(v));
  }

  void write_attributes(std::int64_t id, const trial& t) {
    attribute(id, "candidate", t.candidate.id);
    attribute(id, "generation", t.candidate.generation);
    attribute(id, "origin", to_text(t.candidate.changes));
    attribute(id, "parents", t.candidate.parents);
    attribute(id, "network", to_text(*t.candidate.genome));
    if (!t.evaluated)
      return;
    const auto& done = *t.evaluated;
    attribute(id, "outcome", to_text(done.outcome));
    if (!done.reason.empty())
      attribute(id, "reason", done.reason);
    if (done.equal_to != 0)
      attribute(id, "equal_to", done.equal_to);
    attribute(id, "parameters", done.parameters);
    attribute(id, "seconds", done.seconds);
    for (const auto& m : done.metrics)
      attribute(id, m.name.c_str(), m.value);
  }

  const objective& goal_;
  SQLite::Database db_;
  SQLite::Transaction all_;
  SQLite::Statement insert_trial_, insert_value_, insert_param_, insert_step_,
      insert_attribute_;
  std::vector<param> params_;
};

} // namespace

expected<void> write_optuna_study(const store& s, const experiment& e,
                                  const std::string& name,
                                  const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored))
    return fail(error_kind::conflict, file.string() + ": there already; name a new file");
  try {
    study_writer writer(e, file);
    writer.write_study(name, e.name);
    auto written = for_each_trial(s, [&](const trial& t) -> expected<void> {
      writer.write_trial(t);
      return {};
    });
    if (written)
      writer.commit();
    return written;
  } catch (const SQLite::Exception& failure) {
    // A file that is not whole would stand in the way of the next.
    std::filesystem::remove(file, ignored);
    return fail(failure.getErrorCode() == cannot_open ? error_kind::invalid_input
                                                      : error_kind::io,
                fmt::format("cannot write {}: {}", file.string(), failure.what()));
  }
}

} // namespace clade
