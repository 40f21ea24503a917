#include "engine/training/distribution.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::array rows{
    distribution_row{
        .kind = distribution_kind::one_device,
        .name = "one_device",
        .known_as = "OneDeviceStrategy",
        .what = "A training has one slot.",
        .replication = "none",
        .moved = "0",
        .memory = "n * (2 + the optimiser's copies)",
        .slowed_by = "a large network",
        .when = "there are more candidates than slots: a search keeps all slots busy",
    },
    distribution_row{
        .kind = distribution_kind::mirrored,
        .name = "mirrored",
        .known_as = "MirroredStrategy, DistributedDataParallel on one machine",
        .what = "Each device has a copy of the network and a share of each batch; "
                "gradients are added up, and all copies take the same step.",
        .replication = "in-graph (one client with many devices); data parallelism, which "
                       "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "k * n * (2 + the optimiser's copies)",
        .slowed_by = "many parameters that little is computed with; the slowest device",
        .when = "one training is to be done sooner and its network fits each device: the "
                "long training of a champion",
    },
    distribution_row{
        .kind = distribution_kind::multi_worker_mirrored,
        .name = "multi_worker_mirrored",
        .known_as = "MultiWorkerMirroredStrategy, DistributedDataParallel, Horovod",
        .what = "As mirrored, with a process for each device, on one machine or many; "
                "gradients travel around a ring, over TLS. A process that is lost costs "
                "time, but no step.",
        .replication =
            "between-graph (a client for each device); data parallelism, which "
            "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "k * n * (3 + the optimiser's copies)",
        .slowed_by = "many parameters that little is computed with; a slow network; the "
                     "slowest device",
        .when = "the slots are on several machines, or may be lost at any moment",
        .by_team = true,
    },
    distribution_row{
        .kind = distribution_kind::central_storage,
        .name = "central_storage",
        .known_as = "CentralStorageStrategy",
        .what = "As mirrored, but parameters and the optimiser's state are in one place, "
                "from which the devices copy them before each step.",
        .replication = "in-graph (one client with many devices); data parallelism, which "
                       "others call between-graph",
        .moved = "2 * (k - 1) * n",
        .memory = "n * (2 * k + the optimiser's copies)",
        .slowed_by = "the place that has the parameters, which alone takes the step",
        .when = "mirrored does not fit because of what the optimiser keeps",
    },
    distribution_row{
        .kind = distribution_kind::local_sgd,
        .name = "local_sgd",
        .known_as = "federated averaging, periodic averaging",
        .what = "Each device trains a copy of its own on its share of the batches; after "
                "every average_every steps, and at the end of each epoch, the copies are "
                "averaged.",
        .replication = "in-graph (one client with many devices); data parallelism, which "
                       "others call between-graph",
        .moved = "2 * (k - 1) * n / average_every",
        .memory = "k * n * (2 + the optimiser's copies)",
        .slowed_by = "nothing between averages; copies that drift apart learn less",
        .when = "adding up gradients at each step takes longer than computing them",
        .synchronous = false,
    },
};

std::string all_names() {
  std::string names;
  for (const auto& r : rows)
    names += (names.empty() ? "\"" : ", \"") + std::string(r.name) + "\"";
  return names;
}

} // namespace

std::span<const distribution_row> distribution_rows() {
  return rows;
}

const distribution_row* find_distribution(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &distribution_row::name);
  return found == rows.end() ? nullptr : &*found;
}

expected<void> validate(const distribution_params& params) {
  if (params.name == "xla")
    return fail(
        error_kind::invalid_input,
        "distribution = \"xla\": LibTorch does not reach TPUs from here; take one "
        "of "
            + all_names());
  const auto* row = find_distribution(params.name);
  if (row == nullptr)
    return fail(error_kind::invalid_input,
                "distribution = \"" + params.name
                    + "\": there is none of that name; there are " + all_names());
  if (params.devices == 0 || params.devices > most_devices)
    return fail(error_kind::invalid_input,
                "devices must be from 1 to " + std::to_string(most_devices));
  if (row->kind == distribution_kind::one_device && params.devices > 1)
    return fail(error_kind::invalid_input,
                "devices = " + std::to_string(params.devices)
                    + " needs a distribution, such as \"mirrored\"");
  if (params.average_every == 0)
    return fail(error_kind::invalid_input, "average_every must be at least 1");
  return {};
}

} // namespace clade
