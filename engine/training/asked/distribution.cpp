#include "engine/training/asked/distribution.hpp"

#include "engine/training/asked/distribution_advice.hpp"
#include "engine/training/asked/private_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::array rows{
    distribution_row{
        .name = "one_device",
        .known_as = "OneDeviceStrategy",
        .what = "A training has one slot.",
        .replication = "none",
        .moved = "0",
        .memory = "n * (2 + the optimizer's copies)",
        .slowed_by = "a large network",
        .when = "there are more candidates than slots: a search keeps all slots busy",
        .on_cuda = true,
        .divides = false,
    },
    distribution_row{
        .name = "mirrored",
        .known_as = "MirroredStrategy, DistributedDataParallel on one machine",
        .what = "Each device has a copy of the network and a share of each batch; "
                "gradients are added up, and all copies take the same step.",
        .replication = "in-graph (one client with many devices); data parallelism, which "
                       "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "k * n * (2 + the optimizer's copies)",
        .slowed_by = "many parameters that little is computed with; the slowest device",
        .when = "one training is to be done sooner and its network fits each device: the "
                "long training of a champion",
    },
    distribution_row{
        .name = "multi_worker_mirrored",
        .known_as = "MultiWorkerMirroredStrategy, DistributedDataParallel, Horovod",
        .what = "As mirrored, with a process for each device, on one machine or many; "
                "gradients travel around a ring, over TLS. A process that is lost costs "
                "time, but no step.",
        .replication =
            "between-graph (a client for each device); data parallelism, which "
            "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "k * n * (3 + the optimizer's copies)",
        .slowed_by = "many parameters that little is computed with; a slow network; the "
                     "slowest device",
        .when = "the slots are on several machines, or may be lost at any moment",
        .by_team = true,
        .on_cuda = true,
    },
    distribution_row{
        .name = "central_storage",
        .known_as = "CentralStorageStrategy",
        .what = "As mirrored, but parameters and the optimizer's state are in one place, "
                "from which the devices copy them before each step.",
        .replication = "in-graph (one client with many devices); data parallelism, which "
                       "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "n * (2 * k + the optimizer's copies)",
        .slowed_by = "the place that has the parameters, which alone takes the step",
        .when = "mirrored does not fit because of what the optimizer keeps",
    },
    distribution_row{
        .name = "local_sgd",
        .known_as = "federated averaging, periodic averaging",
        .what = "Each device trains a copy of its own on its share of the batches; after "
                "every average_every steps, and at the end of each epoch, the copies are "
                "averaged, and what their optimizers keep. A process that is lost costs "
                "the steps since the last average.",
        .replication =
            "between-graph (a client for each device); data parallelism, which "
            "others call between-graph",
        .moved = "2 * (k - 1) * n * (1 + the optimizer's copies) / average_every",
        .memory = "k * n * (5 + 4 * the optimizer's copies)",
        .slowed_by = "nothing between averages; copies that drift apart learn less",
        .when =
            "adding up gradients at each step takes longer than computing them: a slow "
            "network",
        .synchronous = false,
        .by_team = true,
        .on_cuda = true,
        .averages = true,
    },
    distribution_row{
        .name = "sharded",
        .known_as =
            "FullyShardedDataParallel, ZeRO stage 3, ParameterServerStrategy with "
            "synchronous steps",
        .what = "As multi_worker_mirrored, with the same weights in the end, but "
                "parameters, gradients and the optimizer's state are divided over the "
                "devices, and so are the average and the best weights. A layer's "
                "parameters are gathered before it is computed, forward, back and in "
                "validation, and given back after it.",
        .replication = "between-graph (a client for each device); data parallelism",
        .moved = "3 * (k - 1) * n; in validation (k - 1) * n each 256 examples; at the "
                 "end of an epoch (k - 1) * n * (2 + the optimizer's copies), which each "
                 "device also writes to its disk",
        .memory = "n * (3 + the optimizer's copies) + k * 4 * the largest layer's bytes; "
                  "k * n when the result is put together",
        .slowed_by = "the network between devices, which is waited for at each layer; a "
                     "process that is lost costs the steps since its epoch began",
        .when = "the network, with what its optimizer keeps, does not fit one device",
        .divides_state = true,
        .by_team = true,
    },
    distribution_row{
        .name = "pipeline",
        .known_as = "GPipe, PipeDream-Flush (1F1B)",
        .what = "Each device has neighbouring layers of the network, a stage, about as "
                "much work as any other. A batch is cut into micro_batches that follow "
                "each other through the stages and back, in the order of stage_schedule, "
                "which does not change the weights.",
        .replication = "between-graph (a client for each device); model parallelism",
        .moved =
            "2 * what leaves a stage for later ones, for all examples of a batch and "
            "k - 1 borders; at the end of an epoch (k - 1) * n * (4 + the "
            "optimizer's copies)",
        .memory =
            "n * (3 + the optimizer's copies), and k * n in validation; activations "
            "of micro_batches (gpipe) or at most k (1f1b) micro-batches a stage",
        .slowed_by = "the stage with the most work; few micro-batches: of p stages and m "
                     "micro-batches (p - 1) / (m + p - 1) of the time is idle; a process "
                     "that is lost costs the steps since its epoch began",
        .when = "the network does not fit one device, and its activations are smaller "
                "than its weights, or the network between devices is slow",
        .data_parallel = false,
        .divides_state = true,
        .by_team = true,
    },
    distribution_row{
        .name = "parameter_server",
        .known_as = "ParameterServerStrategy, DistBelief; backup: SyncReplicasOptimizer",
        .what = "Servers hold shards of the parameters and of what the optimizer keeps; "
                "workers push gradients to them and pull parameters. updates says when a "
                "gradient counts. Each slot serves and works, unless devices = {servers "
                "= S, workers = W}.",
        .replication = "between-graph (a client for each worker); data parallelism of "
                       "workers, model parallelism of what servers hold",
        .moved = "2 * k * n; 2 * (k - 1) * n where each of k slots serves and works",
        .memory = "n * (k * (5 + c) + 1 + c), c: the optimizer's copies; S servers "
                  "beside the workers add S * n * (3 + c). 2 + c of each is the position "
                  "at the end of the last epoch",
        .slowed_by = "the link of each server, by which all k workers go; a slow server; "
                     "a slow worker, where updates are synchronous",
        .when = "workers are of different speed, or come and go: updates = "
                "\"asynchronous\", \"bounded\" or \"backup\"; to shorten equal "
                "steps, multi_worker_mirrored moves less",
        .by_team = true,
        .receivers = gradient_receivers::servers,
    },
    distribution_row{
        .name = "peer_to_peer",
        .known_as = "decentralized asynchronous SGD, Hogwild! over a network",
        .what = "No server: each device has a copy, sends its gradients to all others "
                "and applies theirs as they come, without waiting. At the end of each "
                "epoch copies are averaged.",
        .replication = "between-graph (a client for each device); data parallelism",
        .moved = "k * (k - 1) * n",
        .memory = "k * n * (6 + 2 * the optimizer's copies), and gradients that wait for "
                  "a slow device; at the end of an epoch up to k * k * n more",
        .slowed_by = "many parameters; k, as everybody sends to everybody; nothing waits "
                     "but the end of an epoch",
        .when = "a few devices of different speed share a small network",
        .synchronous = false,
        .by_team = true,
        .receivers = gradient_receivers::peers,
    },
};

std::string all_names() {
  std::string names;
  for (const auto& r : rows)
    names += fmt::format("{}{}\"", names.empty() ? "\"" : ", \"", r.name);
  return names;
}

expected<void> check_collectives(const distribution_params& p) {
  const auto& c = p.collectives;
  if (c == collectives_params{})
    return {};
  if (c.backend == "nccl")
    return fail(error_kind::invalid_input,
                "collectives.backend = \"nccl\" adds up on CUDA devices, and what slots "
                "share is added up by the CPU so far; take \"tls\" or, on a private "
                "network, \"gloo\"");
  if (c.backend != "tls" && c.backend != "gloo")
    return fail(error_kind::invalid_input,
                fmt::format("collectives.backend = \"{}\": there is none of that name; "
                            "there are \"tls\" and \"gloo\"",
                            c.backend));
  if (!p.row().by_team)
    return fail(
        error_kind::invalid_input,
        fmt::format(
            "collectives is of distributions by teams, such as "
            "\"multi_worker_mirrored\", not of \"{}\", which sends nothing; remove it",
            p.name));
  if (!c.by_gloo())
    return fail(error_kind::invalid_input,
                "collectives.network is of backend = \"gloo\"; \"tls\" takes any "
                "network: remove it");
  if (c.network.empty())
    return fail(error_kind::invalid_input,
                "collectives needs a network, whose machines are all trusted, since "
                "\"gloo\" neither encrypts nor asks who connects: collectives = {backend "
                "= \"gloo\", network = \"10.1.0.0/16\"}");
  if (const auto network = parse_ipv4_network(c.network); !network)
    return fail(network.error().kind, "collectives.network = " + network.error().message);
  return {};
}

expected<void> check_roles(const distribution_params& p) {
  if (p.servers == 0 && p.workers == 0)
    return {};
  if (p.row().receivers != gradient_receivers::servers)
    return fail(
        error_kind::invalid_input,
        fmt::format("devices = {{servers, workers}} is of distribution = "
                    "\"parameter_server\", not of \"{}\", whose devices are a number",
                    p.name));
  if (p.servers == 0 || p.workers == 0 || p.servers + p.workers != p.devices)
    return fail(error_kind::invalid_input,
                "devices must have at least one server and one worker: devices = "
                "{servers = 1, workers = 3}");
  return {};
}

expected<void> check_updates(const distribution_params& p) {
  const auto receivers = p.row().receivers;
  const bool peers = receivers == gradient_receivers::peers;
  if (p.updates == update_rule::automatic)
    return check_roles(p);
  if (receivers == gradient_receivers::none)
    return fail(error_kind::invalid_input,
                fmt::format("updates is of distribution = \"parameter_server\" and "
                            "\"peer_to_peer\", not of \"{}\"; remove it",
                            p.name));
  if (peers
      && (p.updates == update_rule::synchronous || p.updates == update_rule::backup))
    return fail(error_kind::invalid_input,
                "updates of \"peer_to_peer\" are \"asynchronous\" or \"bounded\"; "
                "distribution = \"multi_worker_mirrored\" has synchronous ones");
  if (p.updates == update_rule::bounded && p.staleness == 0)
    return fail(error_kind::invalid_input,
                "staleness must be at least 1; updates = \"synchronous\" has none");
  if (p.updates == update_rule::backup
      && (p.backup_workers == 0 || p.backup_workers >= p.shares()))
    return fail(
        error_kind::invalid_input,
        fmt::format("backup_workers must be at least 1, and fewer than the {} workers",
                    p.shares()));
  return check_roles(p);
}

} // namespace

std::span<const distribution_row> distribution_rows() {
  return rows;
}

const distribution_row* find_distribution(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &distribution_row::name);
  return found == rows.end() ? nullptr : &*found;
}

update_rule distribution_params::rule() const {
  if (updates != update_rule::automatic)
    return updates;
  return row().receivers == gradient_receivers::peers ? update_rule::asynchronous
                                                      : update_rule::synchronous;
}

bool distribution_params::synchronous() const {
  const auto r = rule();
  return row().synchronous && r != update_rule::asynchronous && r != update_rule::bounded;
}

expected<void> validate(const distribution_params& params) {
  if (params.name == "xla" || params.name == "tpu" || params.name == "TPUStrategy")
    return fail(error_kind::invalid_input,
                fmt::format("distribution = \"{}\": LibTorch does not reach TPUs from "
                            "here; take one of {}",
                            params.name, all_names()));
  const auto* row = find_distribution(params.name);
  if (const auto here = known_elsewhere_as(params.name); row == nullptr && !here.empty())
    return fail(error_kind::invalid_input,
                fmt::format("distribution = \"{}\" is called \"{}\" here; `clade help "
                            "distributions` says what it does",
                            params.name, here));
  if (row == nullptr)
    return fail(
        error_kind::invalid_input,
        fmt::format("distribution = \"{}\": there is none of that name; there are {}",
                    params.name, all_names()));
  if (params.devices == 0 || params.devices > most_devices)
    return fail(error_kind::invalid_input,
                fmt::format("devices must be from 1 to {}", most_devices));
  if (!row->divides && params.devices > 1)
    return fail(error_kind::invalid_input,
                fmt::format("devices = {} needs a distribution, such as \"mirrored\"",
                            params.devices));
  if (params.fit_bytes && !row->divides_state)
    return fail(error_kind::invalid_input,
                fmt::format("devices = \"fit\" is of distributions that divide a network "
                            "over devices, \"sharded\" and \"pipeline\", not of \"{}\", "
                            "which takes as much memory on each",
                            params.name));
  if (params.average_every == 0)
    return fail(error_kind::invalid_input, "average_every must be at least 1");
  if (params.micro_batches == 0 || params.micro_batches > most_micro_batches)
    return fail(error_kind::invalid_input,
                fmt::format("micro_batches must be from 1 to {}", most_micro_batches));
  if (params.stage_schedule != "gpipe" && params.stage_schedule != "1f1b")
    return fail(error_kind::invalid_input,
                fmt::format("stage_schedule = \"{}\": there is none of that name; there "
                            "are \"gpipe\" and \"1f1b\"",
                            params.stage_schedule));
  return check_collectives(params).and_then([&] { return check_updates(params); });
}

} // namespace clade
