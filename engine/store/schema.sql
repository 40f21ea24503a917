-- The store of one run. `records` is the truth, and all that resuming a run reads; everything
-- else is written from it, in the same transaction, for people and their queries.
--
-- Times are milliseconds since 1970 (UTC); durations are seconds. Ids of candidates count from
-- 1 in the order of birth. Numbers of 64 bits (seed, weights_hash, checksum) are stored as
-- signed ones. `metrics` are JSON objects by name: {"validation.accuracy":0.97, ...}; the view
-- `metrics` has them as rows.

-- Kind 10 of the records below is a fork: those before it are another run's, up to a generation.
-- `runs` then has the seed and the experiment from there on, with a comment before it that says
-- where the run comes from.

-- Kind 11 is an order of a person, and what people wrote on candidates or on the run: notes and
-- tags, whose time is none of the run's (progress.updated_ms).

-- What happened, in order. A run is the fold of these (engine/run/state/run_state.hpp).
create table records (
  sequence integer primary key, -- from 1, without gaps
  unix_ms  integer not null,
  kind     integer not null,    -- 1 run started, 2 candidate born, 3 candidate evaluated,
                                -- 4 generation closed, 5 run finished, 6 paused, 7 resumed,
                                -- 8 attempt failed, 9 slot changed, 11 a person ordered,
                                -- 12 the end is planned, 13 the final model is made
  payload  blob not null,       -- msgpack; grammar at the top of engine/run/records/record.cpp
  checksum integer not null     -- XXH3 of the payload, seeded with that of the three columns
                                -- before it, which is seeded with the predecessor's checksum
);

-- One row: the run, as it was started.
create table runs (
  run        integer primary key check (run = 1),
  metric     text not null,     -- what is raised or lowered
  maximize   integer not null,  -- 1: raised, 0: lowered
  started_ms integer,
  version    text,              -- of clade
  seed       integer,
  search     text,              -- hash of what decides the search
  experiment text               -- TOML, resolved: all defaults included
);

-- Where the objective has several metrics, or limits, all of it stands in one table more:
-- aims(position, metric, direction, bound), direction 'maximize', 'minimize', 'at_most' or
-- 'at_least'. Its first row is that of `runs`.

-- One row: how far it is, rewritten by every transaction.
create table progress (
  run              integer primary key check (run = 1),
  records          integer not null, -- how many there are
  updated_ms       integer not null,
  state            text not null,    -- 'created', 'started', 'paused' or 'finished'; whether
                                     -- a process is at work is in the lock file, not here
  reason           text not null,    -- why it paused
  generation       integer not null, -- the latest with a candidate
  born             integer not null,
  evaluated        integer not null,
  failed           integer not null, -- of those evaluated
  training_seconds real not null,    -- summed over all slots
  best             integer,          -- the fittest candidate so far
  best_fitness     real,
  champion         integer           -- once the run is finished, if any candidate succeeded
);

-- A genome is a candidate: a network, how it is trained, and where it comes from. Its genes are
-- in its record; `clade show RUN --genome ID` draws them.
create table genomes (
  id         integer primary key,
  sequence   integer not null, -- of its record
  generation integer not null,
  place      integer not null, -- within its generation
  network    text not null,    -- canonical hash, the same for equal networks
  nodes      integer not null, -- genes
  edges      integer not null,
  origin     text not null,    -- 'random', 'widen n3f2a1 16 -> 32'
  equal_to   integer,          -- the oldest candidate with an equal network
  work       real not null,    -- estimated multiply-adds for one example and epoch
  epochs     integer,          -- it is trained to this epoch; null: as the experiment says
  start      integer           -- the candidate whose weights its training starts from
);
create index genomes_by_generation on genomes (generation);

create table parents (
  child    integer not null,
  position integer not null,   -- 0: the fitter
  parent   integer not null,
  primary key (child, position)
) without rowid;

create table evaluations (
  id           integer primary key, -- of the candidate
  sequence     integer not null,    -- of its record
  outcome      text not null,       -- 'succeeded', 'diverged', 'timed out', 'out of memory',
                                    -- 'crashed', 'invalid', 'dropped'
  fitness      real,                -- the value of runs.metric; null where it failed
  metrics      text not null,
  parameters   integer not null,    -- of the network: its weights and biases
  weights_hash integer not null,
  equal_to     integer,             -- copied from this candidate, whose network is equal
  reason       text,                -- why it failed
  seconds      real not null,       -- spent on training and validation
  slot         text not null,       -- where: 'node1/cpu:0'
  tries        integer not null
);

-- Learning curves.
create table epochs (
  id      integer not null,    -- of the candidate
  number  integer not null,    -- from 1
  metrics text not null,
  seconds real not null,
  primary key (id, number)
) without rowid;

create table generations (
  generation   integer primary key,
  born_ms      integer not null,    -- its first candidate's birth
  closed_ms    integer,             -- null while it is in progress
  born         integer not null,
  evaluated    integer not null,
  failed       integer not null,
  best         integer,             -- its fittest candidate
  best_fitness real,
  survivors    text                 -- ids of those that may breed next, best first: JSON array
);

-- Slots as they came and went.
create table nodes (
  sequence  integer primary key, -- of the record by which it joined
  slot      text not null,
  joined_ms integer not null,
  left_ms   integer,             -- null: it is there, or the run was killed
  reason    text                 -- why it left
);

-- Attempts to evaluate a candidate that failed for no fault of its own, or killed their process.
create table attempts (
  sequence integer primary key,
  unix_ms  integer not null,
  id       integer not null,
  attempt  integer not null,
  slot     text not null,
  reason   text not null
);

-- What the champion and its baselines made of the held-out test data.
create table examinations (
  sequence   integer not null,
  position   integer not null,
  subject    text not null,    -- 'champion', 'best random candidate', 'linear model'
  id         integer,          -- of the candidate, if it is one
  metrics    text not null,
  parameters integer not null,
  primary key (sequence, position)
) without rowid;

-- Trained weights of the best few (engine/training/weights/weights.hpp).
create table weights (
  id       integer primary key,
  checksum integer not null,   -- XXH3 of the bytes
  bytes    blob not null
);

-- At most one row: what views of the run begin with, so that they need not fold all records. It
-- says nothing that the records do not; one that does not fit them is passed over.
create table picture (
  run             integer primary key check (run = 1),
  sequence        integer not null, -- of the last record that is in it
  record_checksum integer not null, -- of that record
  checksum        integer not null, -- XXH3 of the bytes
  bytes           blob not null     -- engine/telemetry/picture/stored_picture.cpp
);

create view metrics as
  select e.id, m.key as name, m.value as value
  from evaluations e, json_each(e.metrics) m;

-- Examples, for `sqlite3 runs/digits-20260131-140500/run.db`; also while the run is going on.
--
-- The ten best:
--     select id, fitness, parameters, seconds, origin
--     from evaluations join genomes using (id) where fitness is not null
--     order by case (select maximize from runs) when 1 then -fitness else fitness end limit 10;
--
-- Best and median of each generation:
--     select generation, best_fitness, avg(fitness) as median from (
--       select generation, best_fitness, fitness, count(*) over g as n,
--              row_number() over (partition by generation order by fitness) as rank
--       from generations join genomes using (generation) join evaluations using (id)
--       where fitness is not null window g as (partition by generation))
--     where rank in ((n + 1) / 2, (n + 2) / 2) group by generation;
--
-- Accuracy against size:
--     select parameters, value from metrics join evaluations using (id)
--     where name = 'validation.accuracy' order by parameters;
--
-- Where the best comes from, along the fitter parents:
--     with recursive line(id) as (
--       select best from progress where best is not null
--       union all select parent from line join parents on child = id where position = 0)
--     select id, generation, origin, fitness
--     from line join genomes using (id) left join evaluations using (id);
--
-- What failed, and why:
--     select outcome, reason, count(*) from evaluations
--     where outcome <> 'succeeded' group by outcome, reason order by 3 desc;
--
-- How well the slots were used:
--     select slot, count(*) as candidates, sum(seconds) as seconds from evaluations
--     where equal_to is null group by slot;
--
-- The learning curve of the best:
--     select number, metrics from epochs where id = (select best from progress) order by number;
