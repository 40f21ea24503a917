// Topics that are lists are made from what the engine reads them with; the others are
// texts.
#include "tools/cli/help/help_topics.hpp"

#include "engine/config/experiment/reference.hpp"
#include "engine/config/experiment/space_reference.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/training/asked/distribution.hpp"
#include "engine/training/metrics/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

std::string strategies_text() {
  std::string out =
      "Strategies: [evolution] strategy = \"NAME\" in an experiment file.\n\n";
  for (const auto& s : strategies_with_advice())
    out += reference_item(std::string(s.name), "", std::string(s.sentence));
  return out;
}

constexpr const char* distributions_end = R"(
The same experiment with the same k gives the same weights, bit for bit, and mirrored,
central_storage, multi_worker_mirrored, sharded and parameter_server with synchronous updates
give those of each other: gradients are added up in an order that no timing changes.
Processors that round otherwise give other last bits, as a run says when such a slot joins;
with arithmetic = "portable" all x86-64 processors round alike. k devices with a batch of b
are one device with a batch of k * b, up to rounding and to what draws or measures by the
batch (dropout, batch norms). The learning rate of synchronous distributions is k times as
high, after a warm-up, unless scale_learning_rate = false.

CUDA devices share a training by multi_worker_mirrored and local_sgd, whose sums the CPU
makes: a small network gains nothing by it. xla (TPUs) is not reached from here.

Where each slot has a process of its own, what they send each other goes over TLS with the
run's keys, or over Gloo where collectives names a private network: without encryption, so
that whoever is in that network can read and change it. The weights are the same.

A slot that is lost, or whose machine comes back, takes part again, also where one other was
left. Every checkpoint_every a training keeps on the disk of its machine where it stands; of
sharded and pipeline one member of each machine keeps the whole of it, which all have put
together on disk. Where all processes and the head were killed, `clade resume` goes on from
the newest of these that is whole, and the weights are the same. SIGTERM to `clade train` or
`clade run`: what is in training has 8 s to finish, then it keeps its position, and the run
ends in less than the 30 s that SLURM and Kubernetes give.

A slot for which the others wait, or whose gradients come too late for steps of updates =
"backup", is named in the run's log, and recorded with its times when the training is over.

devices = "fit", of sharded and pipeline: each network of a search has as few slots as leave
each of them with at most limits.evaluation_memory, by the forecast that `clade plan` shows.

updates of parameter_server (and of peer_to_peer, where marked *): "synchronous", a step of
all workers' gradients, which gives the weights of mirrored; "asynchronous"*, each gradient
as it comes; "bounded"*, the same, but no worker is more than `staleness` steps ahead of
the slowest; "backup", a step of the first gradients, without those of `backup_workers`.
In all but the first, timing decides which gradient meets which parameters. The training
keeps a log of that, about a byte for each gradient and holder, and makes the same weights
again by it, bit for bit, on any number of slots. Whatever member is lost, the others go
back to the end of the last epoch: synchronous weights do not change by that.

In-graph and between-graph: whether one process or each device's own drives a training.
Data parallelism: devices have equal networks and parts of the batch. Model parallelism:
they have parts of the network.
)";

std::string distributions_text() {
  std::string out =
      "Distributions: [training] distribution = \"NAME\" and devices = k in "
      "an experiment file,\nor --set of clade train. A training then takes k "
      "slots. k: devices\n(workers, where there are S servers beside "
      "them), n: the bytes of all parameters.\n\n";
  for (const auto& d : distribution_rows()) {
    out +=
        reference_item(std::string(d.name), std::string(d.known_as), std::string(d.what));
    for (const auto& [what, said] : {std::pair{"Take it where ", d.when},
                                     {"Moves, in bytes a step: ", d.moved},
                                     {"Memory of all devices: ", d.memory},
                                     {"Slowed by: ", d.slowed_by},
                                     {"Replication: ", d.replication}})
      out += fmt::format("      {}{}\n", what, said);
  }
  return out + distributions_end;
}

void add_metrics(std::string& out, const learning_task& task) {
  const auto each_epoch = part_metrics(task);
  const auto item = [&](std::string_view name, bool maximize, const char* what) {
    out += reference_item("validation." + std::string(name),
                          maximize ? "maximize" : "minimize", what);
  };
  for (const part_metric& m : all_part_metrics(task))
    item(m.name, m.maximize,
         std::ranges::find(each_epoch, m.name, &part_metric::name) != each_epoch.end()
             ? "Measured after every epoch."
             : "");
  if (task.has_classes())
    item("f1.CLASS", true, "Of the class of that name.");
  if (task.has_labels())
    item("f1.LABEL", true, "Of the label of that name; so is auc.LABEL.");
  if (task.has_quantiles())
    item("pinball.QUANTILE", false, "Of the quantile of that name, such as q0.9.");
}

std::string metrics_text() {
  std::string out =
      "Metrics: what [objective] maximize, minimize, at_most and at_least may "
      "name.\n";
  for (const auto& task : learning_tasks) {
    out += fmt::format("\nOf a {}:\n\n", task.name);
    add_metrics(out, task);
  }
  return fmt::format(
      "{}\nThose that are not measured after every epoch are, where the objective or "
      "[training]\nmetrics = [...] names them.\n\nOf every network, to "
      "minimize:\n\n{}{}{}\nThe test part is measured once, for the champion: "
      "`test.accuracy` and so on.\n",
      out, reference_item(std::string(parameters_metric), "", "Its weights."),
      reference_item(std::string(multiply_adds_metric), "",
                     "Multiplications for one example."),
      reference_item(
          std::string(latency_metric), "",
          "Milliseconds for one example, measured on the slot. Latency depends on the "
          "machine, so the same seed gives another search; `clade replay` of the "
          "stored run still repeats it."));
}

std::string tables_text() {
  return R"(A table holds evaluations that were made before, such as NAS-Bench-201; searching it trains
nothing. An experiment with [experiment] fitness = "table" names a description in [table] file:

  files = ["x.csv.gz"]           CSV; row i of each file is about the same setting
  folder = "data"                where the files are, from the description's folder;
                                 the environment's CLADE_BENCHMARKS takes its place
  lookup = "exact"               or "nearest"
  fidelities = [12, 200]         epochs, rising; or {first = 1, last = 51}
  separate = true                each fidelity is a training from the beginning
  seeds = [0, 1, 2]              what {seed} stands for in a column's name
  cost = "time_s{seed}"          seconds of the greatest fidelity
  truth = "test.accuracy"        what a search is judged by in the end
  include = "other.toml"         another description, which this one adds to

  [hyperparameters]              the table's parameters, as in search-space files
  [objective]                    maximize or minimize = "validation.accuracy"
  [metrics]                      the column of each metric, or one for each fidelity
  validation.accuracy = ["acc12_s{seed}", "acc200_s{seed}"]
  [key]                          only where columns are not named like the parameters:
  columns = {units = "n_units"}  their names, or one column of digits, each an index
                                 into the list of its parameter: column = "arch",
                                 digits = ["edge_0_1", "edge_0_2"]

Examples: experiments/nas-bench-201.toml and experiments/tables/.
)";
}

std::string scripts_text() {
  return R"(Jobs: the training scripts that you have, on Clade's slots, with no change to them.

  clade jobs run scripts/ --dry-run             what would run, and about how long
  clade jobs run scripts/ --epochs 20 --timeout 2h --memory 8GiB --retries 1
  clade jobs run --only train_a train_b --extra-arg --early-stopping
  clade jobs resume                             what has not ended of the latest such run
  clade jobs resume --failed                    a new run of what did not succeed

A script is a job; its name is that of its file. It succeeds if it ends with status 0, is
tried again with --retries if it ends otherwise, and ends as "timed out" or "out of memory"
where it takes more than --timeout or --memory; all processes that it has started end with
it. A job that fails stops no other.

How many run at once: as many as the machine has cores, memory and GPUs for, one GPU each
(clade jobs advise). A script finds its GPU in CUDA_VISIBLE_DEVICES, its cores in
OMP_NUM_THREADS, and CLADE_JOB and CLADE_TRY. Jobs that took longest in earlier runs begin
first.

--epochs, --folds and --batch are given to the scripts that have such an option (--epochs,
--num-epochs, --batch_size ...). To know that, each is started once with --help, for 20 s at
most, unless nothing in its text reads arguments. --extra-arg is given to every script.

A jobs.toml holds the same: clade jobs run jobs.toml. Options on the command line come before
what it says. Its paths are relative to its folder, where the scripts run too.

  folders = ["vision", "tables"]        include_pattern = ["train_*.py"]
  only = ["train_a"]                    exclude = ["*_old"]
  max_workers = 4                       oversubscribe = false
  parallel = true                       sequential = false
  epochs = 20                           folds = 5             batch = 64
  extra_arg = ["--early-stopping"]      retries = 1
  timeout = "2h"                        memory = "8GiB"
  directory = "."                       output = "."          slots = "cuda:0,cpu:2"

What a script writes goes to logs/JOB/run_TIME.log, what Clade does to logs/orchestrator.log,
and the end to summaries/training_summary_TIME.json
(tools/jobs/training_summary.schema.json describes it).

It is a run like any other: clade attach, show and report take it. With --listen, workers of
other machines take jobs too; the scripts, their data and the folder of logs must lie on the
same paths there.
)";
}

std::string command_text() {
  return R"(With [experiment] fitness = "command", a program of yours scores each candidate: a training
in any framework, a shell script, a simulation. It needs no change where arguments suffice:

  [command]
  run = ["python3", "train.py", "--lr={learning_rate}", "--epochs={epochs}", "--seed={seed}"]
  metrics = "json_lines"

The search space has what it is told; one of hyperparameters alone, without layers, says so:

  [hyperparameters]
  learning_rate = { low = 1e-4, high = 0.1, log = true }
  [limits]
  max_nodes = 0

What it is told. Each word stands in braces in `run`, `environment` and `metrics`, {epochs},
and in its environment, CLADE_EPOCHS; {{epochs}} are the braces themselves:

  NAME                 the hyperparameter NAME of the search space; CLADE_PARAM_NAME in capitals
  candidate            the candidate's number
  seed                 the same for equal candidates of a run
  epochs               for how many to train in all; rungs tell less than [command] epochs
  start_epoch          how many of them the checkpoint has behind it; 0: begin anew
  cores                how many cores it has
  params_file          all hyperparameters, a JSON object
  genome_file          its layers, {"layers": [{"op": "dense", "settings": {"units": 32},
                       "inputs": [0]}], "output": {"inputs": [1], "settings": {}}}, JSON; 0
                       among inputs is the network's input, 1 the first layer
  python_file          its network as PyTorch, `from network import load`, written only where
                       `run` or `environment` names it; [data] shape = [1, 28, 28] and
                       classes = 10 say what it is for
  onnx_file            the same as ONNX; both have the initial weights of {seed}
  work_folder          an empty folder of its own in TMPDIR, removed afterwards
  checkpoint_folder    with checkpoints = true: what it leaves there is there again when the
                       candidate goes on; files and folders, 1 GiB at most
  tensorboard_folder   with metrics = "tensorboard": for event files
  report_file          lines of JSON that it appends count as metrics, with any `metrics`

From standard input it reads {"candidate", "seed", "epochs", "hyperparameters", "genome"}.

What it answers. A JSON object of names and numbers, {"loss": 0.5, "accuracy": 0.8}, as its
last such line; with "epoch" (from 1) it is a report, seen as it comes with metrics =
"json_lines" or a file. Of "tensorboard" each further step of the objective's first metric
is an epoch. Status 0 is a success, if the objective's metrics are there and finite. Any
other status fails the candidate, with the last line of standard error as the reason, but
for those of `retry`.

How it is stopped: SIGTERM to its process group, at the end of its time, when nobody wants
more of it, and when it reports an epoch after those of its rung; SIGKILL to all that it has
started after [command] grace, and at once where it takes more than its memory. Nothing that
it starts outlives it.

What it writes is kept: RUN/logs/ID.log for slots of the head's own machine, elsewhere
~/.cache/clade/logs/*/ID.log of the machine that ran it, for a week.

It runs as your user, in its own process group, with no descriptor of Clade's open and no
key in its environment. The keys of the run are hidden from it where the system allows that
(`clade doctor` says; else the worker's log does): it sees an empty folder, in namespaces of
its own, where sudo does not work and files of other users seem to be nobody's; isolate =
false leaves that out. All other files it can read as you can: give programs that you do not
trust a user or a container of their own.

A Python that has imported what scripts import takes seconds off each candidate: preload =
["sklearn.svm"] has one on each slot, which forks for each candidate and runs the script as
it is. A script that trains in main() alone may be named itself, preload = ["train"]. What
modules make when they are loaded (threads, seeds, CUDA) is made once for all.

In Python, `import clade` (tools/python of the clone) has clade.params(), clade.report(
epoch=1, loss=0.5), clade.should_stop() and clade.checkpoint_folder().

Examples: experiments/command.toml, command-sklearn.toml, command-pytorch.toml and
command-network.toml.
)";
}

std::string environment_text() {
  return R"(Environment variables:

  CLADE_RUNS             where runs are kept and looked for; else ./runs
  CLADE_CACHE            where data that was read is cached; else XDG_CACHE_HOME/clade or
                         ~/.cache/clade
  CLADE_BENCHMARKS       where the files of benchmark tables are (clade help tables)
  CLADE_QUEUE            the folder of the queue that submit, get, logs and others ask
  CLADE_QUEUE_PATIENCE   for so many seconds they ask again where no server is there; 600
                         for what runs in a queue, else 0
  CLADE_NVML             NVIDIA's management library, if it is not libnvidia-ml.so.1
  CUDA_VISIBLE_DEVICES   hides GPUs, as for every program that uses CUDA

For tools/clade and tools/test, which build Clade:

  CLADE_TORCH=OFF        build without LibTorch: nothing can be trained
  CLADE_DASHBOARD=OFF    build without the page of clade attach --web
  Torch_DIR              a LibTorch of your own
)";
}

std::string words_text() {
  return R"(Words that Clade uses:

  candidate    a network that the search tries; #231 is the 231st of its run
  genome       what a candidate is made of: layers, connections and hyperparameters
  gene         one layer or connection of a genome
  search space the genomes that may be bred: a file of layers, settings and limits
  fitness      how good a candidate is: its first objective, measured on validation data
  generation   so many candidates, after which the best are chosen
  champion     the best candidate of a run
  front        with several objectives: the candidates that no other beats in all of them
  lineage      a candidate's ancestors, with what each one changed
  strategy     the search algorithm (clade help strategies)
  rung         a number of epochs after which a training may be stopped or continued
  run          one search and everything it recorded: the folder runs/NAME-TIME
  head         the process that searches: it decides, records and hands out candidates
  worker       the process that offers a machine's devices to a head
  slot         a device, or a share of it, that trains one candidate at a time
  node         the process that trains on one slot
  examination  the champion's one measurement on test data, at the end
)";
}

std::string queue_text() {
  return R"(A queue for a lab: clade serve FOLDER hands out the slots of its machine to what several
people submit. Whoever serves, and each user that was added, has a folder that names the
server; CLADE_QUEUE, or --queue, says which.

  clade serve FOLDER --slots auto            on the machine with the devices
  clade serve FOLDER --add-user ann          writes FOLDER/users/ann, to be given to ann
  export CLADE_QUEUE=FOLDER
  clade submit digits.toml --slots 2         a run; prints the entry's number
  clade submit --after 1 -- python3 x.py     a command, once entry 1 has succeeded
  clade get                                  what waits and runs; -w: as it changes
  clade describe 1;  clade logs -f 1         all about an entry; what it writes
  clade cancel 1;    clade wait 2 3          exit status 0 if all have succeeded; a server
                                             that is not there is waited for for a minute
  clade pods 1;      clade top               its processes; who has which slots
  clade submit --ranks 2 -- python3 ddp.py   a program as two processes, one slot each
  clade logs -f 5 --rank 1                   what the second of them writes
  clade top --web                            the address of the queue's page

Words of kubectl and SLURM do what they say there: get jobs, describe job/3, delete 3, get
nodes; squeue, sacct, scancel 3, sinfo, scontrol show job 3, and sbatch train.sh with the
#SBATCH lines of the script, as far as clade submit has an equal: it says what it does not
heed.

Machines: any number may run what is in the queue beside the server's own slots, or
instead of them (--slots none). Each has a copy of a worker's folder and the directories
that entries work in, as on a shared file system.

  clade serve FOLDER --add-user lab --role worker
  clade worker --queue COPY --slots auto     on each machine; --name where hosts share one

Each asks the server for what to run, so nothing listens there. An entry has slots of one
machine, and a run goes on where it has begun; its results stay there (`describe` says
where), its log is with the server. While the server is away what runs goes on, and is
told of afterwards. A machine's name is its worker's until it leaves or is lost.
A machine that is not heard of for --lease is lost: what ran there
waits again, a run begins anew on another machine. If it was cut off and not dead, it
ends that as soon as it hears of the server; until then both may have run.
`clade doctor --queue FOLDER` says how the machines are.

With --idle 10min a server or a worker ends when there was nothing to run for so long, as
on machines that a cluster lends. Where nobody serves, `submit` in the queue's own folder
puts an entry into its store, for the next who does.

Flows: a command may submit and wait itself (CLADE_QUEUE names its queue, as its user),
such as one that writes configurations, submits a training for each with --once WORD, so
that it may be begun again, and then itself --after all of them.

Ranks: --ranks N starts a command N times at once, each on its share of the slots, with
RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun does: a script that
uses PyTorch's env:// needs no change. All see all GPUs of the entry. Each line of the log
begins with its rank ("1: "). When one fails, the others are ended.

Who is next: the largest priority; but each day of waiting weighs as much as a step of it
(--ageing), and of equal priorities it is the turn of the user who had least of late
(what one had a week ago counts half: --half-life). --quota bounds what one user has at a
time, --most-waiting and --most-waiting-size what waits of one user. An entry gets all its slots at once. The first that finds too few is waited for;
others go before it where they do not delay it, which takes a --time that they say. What
runs longer than its --time is ended.

Making room: runs and trainings of a lower priority are stopped for a higher one, as
Ctrl+C stops them, and go on later where they were (clade resume): a generational search
ends with the same records. Commands are stopped only if they were submitted with
--requeue, and are then begun anew.

States: waiting, running, preempted (waits to go on), held (what it comes after did not
succeed: it never starts), succeeded, failed, cancelled.

Faults: what was submitted is on the disk when submit ends. Processes end with the server,
however it ends; started again, it goes on with runs and begins commands anew, which
`describe` counts (starts, losses). What was five times lost alone on a machine that went
down itself has failed; else a loss is nobody's fault. While less than 1 MiB is free on the
disk of FOLDER nothing is taken and nothing begins there, and `get` says so; what runs goes
on. When a sixteenth of it is left (from 2 to 64 MiB), the entry that has written most of
what is gone is paused, on its machine, and `get` says so; it goes on when there is twice as
much. It is known by its files, or since it writes as much as the disk loses, and the disk
loses no more while it is stopped for a moment; else nobody is paused, and the server or the
machine says why. Of a log longer than --log-limit the beginning and the end are kept, and `logs` says what is left out
(where the file system can free a part of a file, as all but old NFS can).

Several servers: clade serve FOLDER --standby, on this machine or on another one that has
the folder too, waits while another one serves, and takes over when that is gone: at once
where the same machine sees its end, else when it has not renewed its lease in the folder
for 6 s. A server that was stopped or cut off and comes back can write nothing more: it
ends, and what it ran with it, which then begins again elsewhere. Users' folders name all
servers (address, a line for each), and get -w, wait and logs -f go on with the next. A
copy from before there was another one learns of it from the first one's answers. TLS: one certificate for all, with the names of all. Between machines the folder must be on a
file system whose locks hold between them (NFS 4; not one mounted with nolock). What a
lost machine ran waits until that file system has given up its locks: about 90 s on NFS.

A replica: clade serve OTHER --follow FOLDER, with a folder of an admin of the queue, keeps
a copy of its events and tokens on another disk, over HTTP. A submission may be answered
before the replica has it, so the last few may be missing in it when the first dies. Logs
and what runs recorded are not copied: runs begin anew. When the first is gone for good,
clade serve OTHER takes over; --take-over 30s does so by itself, when the first has not
answered for so long. Where only the network is cut there are then two servers, and what
the first still takes in is not in the second: let a person decide, or an alarm. The first
is not served again: it becomes the replica, in a new folder.

What is a single point: one server, its process; several on one machine, that machine and
its disk; several on a file system of the network, that file system; with a replica,
nothing but the moment between a submission and its copy. There is no vote between
servers here. Who needs one lets Kubernetes start the server again where its volume is:
experiments/queue.yaml.

Roles: a viewer sees the queue, a user submits, reads and cancels their own, an admin
everybody's, a worker runs what there is. A deleted line of FOLDER/tokens lets nobody in.
Entries run as the user who serves, or who started the worker: roles keep people apart who trust each other with that account's files.
Other machines reach a server that listens with --certificate and --key (TLS), or by ssh.

Whom a client believes: its token is sent to the server alone. With TLS that shows the
queue's certificate. Without, it must be a process of this machine, of your own user, of
root, or of a user whom FOLDER/server_users names, which clade serve writes: somebody else
who listens at its port gets nothing. Your own ssh -L is believed, and who listens behind
it is not seen: where others have accounts on that machine, take TLS. A queue's folder, its
tokens and keys must be yours or root's, and nobody else may change them. A store with a
second name (a hard link) is not written, and a server whose queue.db was removed ends.

A cluster that is there already has the same verbs: submit, get, describe, pods, logs,
cancel, wait and top with --to slurm or --to kubernetes. Ids are then the cluster's. Slots are cores or GPUs of
one job (--cpus-per-task, --gres; a pod's limits), --time is its limit. SLURM takes
--priority as --nice, which counts the other way round and which only operators may set
below 0, --after as a dependency, and --ranks as tasks of one node; its log is slurm-ID.out
in the directory of submit. Kubernetes wants --image, whose files the command finds, and
has no equal of --priority, --after and --ranks. `submit --dry-run` prints what the cluster would be given.

Programs ask it by HTTP with "Authorization: Bearer TOKEN"; GET /v1/openapi.json describes
all that it answers (OpenAPI 3.1; tools/queue/server/openapi.json in the sources).
)";
}

constexpr help_topic topics[] = {
    {"experiment", "Every key of an experiment file", experiment_reference_text},
    {"search-spaces", "What a search-space file may say", space_reference_text},
    {"strategies", "Search algorithms, and when to take which", strategies_text},
    {"distributions", "One training on several slots", distributions_text},
    {"metrics", "What can be maximized, minimized and bounded", metrics_text},
    {"tables", "Searching results that were measured before", tables_text},
    {"scripts", "Running training scripts of your own as jobs", scripts_text},
    {"command", "A program of yours as the fitness", command_text},
    {"queue", "One queue of runs and commands for several people", queue_text},
    {"environment", "Environment variables", environment_text},
    {"words", "What champion, slot, node, front and other words mean", words_text},
};

} // namespace

std::span<const help_topic> help_topics() {
  return topics;
}

} // namespace clade
