#include "tools/cli/base/command.hpp"
#include "tools/launch/launch_kubernetes.hpp"
#include "tools/launch/launch_run.hpp"
#include "tools/launch/launch_slurm.hpp"
#include "tools/launch/launch_ssh.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/launch/sbatch_text.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct slurm_options {
  launch_run_params run;
  slurm_job job;
  bool dry = false;
};

struct ssh_options {
  launch_run_params run;
  std::string hosts;
  std::string program;
  std::vector<std::string> options;
};

struct kubernetes_options {
  launch_run_params run;
  kubernetes_job job;
};

expected<void> check_choice(const launch_run_params& run) {
  if (run.fresh.file.empty() == run.running.empty())
    return fail(
        error_kind::invalid_input,
        "either an experiment FILE, for a new run, or --run RUN, for one that runs");
  return {};
}

void say_of_head(const launched_run& run) {
  if (run.started != 0)
    std::cout << run.name() << ": " << run.folder.string() << "\n  listens at "
              << run.connect << " as process " << run.started << " of this machine; log "
              << run.log().string() << "\n  kill " << run.started
              << "    stops it; clade resume " << run.name() << " goes on\n";
}

// SLURM

slurm_job job_for(const launched_run& run, slurm_job job) {
  job.name = run.name();
  job.folder = run.folder;
  job.connect = run.connect;
  job.keys = run.bundle();
  if (job.program.empty())
    job.program = own_program().string();
  return job;
}

/// The script, in a file that its owner may run.
expected<std::filesystem::path> write_script(const launched_run& run,
                                             const std::string& text) {
  const auto file = run.folder / "slurm.sh";
  std::ofstream out(file);
  out << text << std::flush;
  if (!out || ::chmod(file.c_str(), 0700) != 0)
    return fail(error_kind::io, "cannot write " + file.string());
  return file;
}

expected<std::string> submit(const std::filesystem::path& script) {
  auto done = run_outside({.command = {"sbatch", "--parsable", script.string()}});
  if (!done)
    return tl::unexpected(done.error());
  if (done->status != 0)
    return fail(
        error_kind::refused,
        fmt::format("sbatch did not take the job (status {}); nothing was submitted",
                    done->status));
  return read_slurm_job_id(done->output);
}

expected<void> launch_slurm(const slurm_options& options, const launched_run& run) {
  return slurm_script(job_for(run, options.job))
      .and_then([&](const std::string& text) { return write_script(run, text); })
      .and_then(submit)
      .map([&](const std::string& job) {
        say_of_head(run);
        std::cout << "job " << job << ": " << options.job.nodes
                  << (options.job.nodes == 1 ? " worker" : " workers") << "; log "
                  << (run.folder / (fmt::format("slurm-{}.log", job))).string()
                  << "\n  squeue --job " << job << "    says where it runs\n  scancel "
                  << job << "    gives its nodes back; the run waits for others\n"
                  << std::flush;
      });
}

int slurm(const slurm_options& options) {
  if (auto ok = check_choice(options.run); !ok)
    return report(ok.error());
  // A run that cannot be described to sbatch is found before anything is made.
  auto imagined = imagine_run(options.run).and_then([&](const launched_run& run) {
    return slurm_script(job_for(run, options.job));
  });
  if (!imagined)
    return report(imagined.error());
  if (options.dry) {
    std::cout << *imagined;
    return 0;
  }
  auto run = launch_run(options.run);
  if (!run)
    return report(run.error());
  if (auto launched = launch_slurm(options, *run); !launched) {
    if (run->started != 0)
      discard(*run);
    return report(launched.error());
  }
  return 0;
}

// ssh

std::string worker_name(const ssh_host& host) {
  return host.destination.substr(host.destination.find('@') + 1);
}

/// All hosts at once; says what became of each in their order. Returns how many work.
expected<std::size_t> launch_ssh(const ssh_options& options, const launched_run& run,
                                 const std::vector<ssh_host>& hosts) {
  auto keys = read_key_bundle(run.bundle());
  if (!keys)
    return tl::unexpected(keys.error());
  const auto program = options.program.empty() ? own_program().string() : options.program;
  std::vector<outside_command> started;
  for (const auto& host : hosts) {
    auto script = ssh_script({.run = run.name(),
                              .keys = *keys,
                              .program = program,
                              .connect = run.connect,
                              .slots = host.slots,
                              .name = worker_name(host)});
    auto command = outside_command::start({.command = ssh_command(host, options.options),
                                           .input = std::move(script),
                                           .keep_errors = true});
    if (!command)
      return tl::unexpected(command.error());
    started.push_back(std::move(*command));
  }
  std::size_t working = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    auto ended = started[i].finish();
    if (!ended)
      return tl::unexpected(ended.error());
    const auto outcome =
        read_ssh_outcome(hosts[i], run.name(), ended->status, ended->output);
    (outcome.works ? std::cout : std::cerr) << outcome.line << std::endl;
    working += outcome.works ? 1 : 0;
  }
  return working;
}

int ssh(const ssh_options& options) {
  if (auto ok = check_choice(options.run); !ok)
    return report(ok.error());
  const auto hosts = parse_ssh_hosts(options.hosts);
  if (!hosts)
    return report(hosts.error());
  auto run = launch_run(options.run);
  if (!run)
    return report(run.error());
  const auto working = launch_ssh(options, *run, *hosts);
  if (run->started != 0 && working.value_or(0) == 0)
    discard(*run);
  if (!working)
    return report(working.error());
  if (*working > 0)
    say_of_head(*run);
  return *working == hosts->size() ? 0 : 1;
}

// Kubernetes

int kubernetes(const kubernetes_options& options) {
  auto run = launch_run(options.run);
  if (!run)
    return report(run.error());
  auto job = options.job;
  job.run = run->name();
  job.connect = run->connect;
  auto manifest = read_key_bundle(run->bundle()).and_then([&](key_bundle keys) {
    job.keys = std::move(keys);
    return kubernetes_manifest(job);
  });
  if (!manifest)
    return report(manifest.error());
  print_data(*manifest);
  return 0;
}

// Command lines

void add_run_options(CLI::App* sub, launch_run_params& run) {
  sub->add_option("file", run.fresh.file,
                  "Experiment file: starts a run here, which only the workers train for");
  sub->add_option("--run", run.running, "Instead: a run that listens on this machine");
  sub->add_option("--listen", run.listen,
                  "Where a new run listens; port 0 takes a free one")
      ->capture_default_str();
  sub->add_option("--host", run.host,
                  "How the workers reach this machine; else by its name");
  sub->add_option("--set", run.fresh.overrides,
                  "key=value instead of the file's; repeatable")
      ->allow_extra_args(false);
  sub->add_option("--runs", run.fresh.runs, "Where a new run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
}

void add_slurm(CLI::App* launch, command& chosen) {
  auto options = std::make_shared<slurm_options>();
  auto* sub =
      launch->add_subcommand("slurm", "Start workers in one SLURM job, one on each node");
  add_run_options(sub, options->run);
  sub->add_option("--nodes", options->job.nodes, "How many nodes")->capture_default_str();
  sub->add_option("--gpus-per-node", options->job.gpus_per_node, "GPUs to ask for");
  sub->add_option("--cpus-per-node", options->job.cpus_per_node,
                  "Cores to ask for; without it SLURM gives its default, often one");
  sub->add_option("--slots", options->job.slots, "Slots of each worker")
      ->capture_default_str();
  sub->add_option("--sbatch", options->job.options,
                  "An option of sbatch, such as --sbatch partition=gpu; repeatable")
      ->allow_extra_args(false);
  sub->add_option("--program", options->job.program, "clade on the nodes; else this one");
  sub->add_flag("--dry-run", options->dry, "Print the job's script, and do nothing");
  sub->footer("The run's folder, its keys and the program must be on a file system that "
              "the nodes\n"
              "share. A job that SLURM requeues joins the run again; before its time is "
              "used up,\n"
              "its workers hand back what they have.");
  sub->callback([&chosen, options] { chosen = [options] { return slurm(*options); }; });
}

void add_ssh(CLI::App* launch, command& chosen) {
  auto options = std::make_shared<ssh_options>();
  auto* sub = launch->add_subcommand("ssh", "Start workers on machines that ssh reaches");
  sub->add_option("hosts", options->hosts,
                  "HOST, USER@HOST or HOST:SLOTS, such as gpu1,anna@gpu2:cuda:0+cuda:1")
      ->required();
  add_run_options(sub, options->run);
  sub->add_option("--program", options->program,
                  "clade on those machines; else the same path as here");
  sub->add_option("--ssh", options->options,
                  "A word for ssh, such as --ssh=-p2222; repeatable")
      ->allow_extra_args(false);
  sub->footer(
      "ssh must get in without a password. The keys go to ~/.clade/keys/RUN there, "
      "and no\nother user can read them. A worker ends with its run.");
  sub->callback([&chosen, options] { chosen = [options] { return ssh(*options); }; });
}

void add_kubernetes(CLI::App* launch, command& chosen) {
  auto options = std::make_shared<kubernetes_options>();
  auto& job = options->job;
  auto* sub = launch->add_subcommand(
      "kubernetes", "Print the YAML of workers: a Job, or an object of Kubeflow's");
  sub->add_option("--run", options->run.running, "A run that listens on this machine")
      ->required();
  sub->add_option("--image", job.image, "A container image that has clade")->required();
  sub->add_option("--as", job.kind, kubernetes_kinds())->capture_default_str();
  sub->add_option("--workers", job.workers,
                  "How many pods; the first of a pytorchjob is its Master, that of a "
                  "tfjob its Chief")
      ->capture_default_str();
  sub->add_option("--servers", job.servers,
                  "How many pods more a tfjob has, in the role PS");
  sub->add_option("--gpus", job.gpus, "GPUs of each worker (nvidia.com/gpu)");
  sub->add_option("--cpus", job.cpus, "CPUs of each worker")->capture_default_str();
  sub->add_option("--memory", job.memory, "Memory of each worker, such as 8Gi");
  sub->add_option("--slots", job.slots,
                  "Slots of each worker; otherwise all its GPUs, or its CPUs");
  sub->add_option("--namespace", job.name_space)->capture_default_str();
  sub->add_option("--program", job.program, "clade in the image")->capture_default_str();
  sub->add_option("--host", options->run.host,
                  "How pods reach this machine; else by its name");
  sub->footer("clade launch kubernetes --run digits --image IMAGE | kubectl apply -f -\n"
              "What it prints has a private key of the run in it.\n"
              "The roles of a pytorchjob or tfjob mean something to Kubeflow only: every "
              "pod is a\n"
              "worker, and the run chooses which of their slots train together. The job "
              "ends with\n"
              "its Master or Chief, and that with the run.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return kubernetes(*options); }; });
}

} // namespace

void add_launch(CLI::App& app, command& chosen) {
  auto* launch = app.add_subcommand(
      "launch", "Start workers on other machines: SLURM, ssh or Kubernetes");
  launch->require_subcommand(1);
  add_slurm(launch, chosen);
  add_ssh(launch, chosen);
  add_kubernetes(launch, chosen);
}

} // namespace clade
