#include "engine/training/asked/distribution_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

// Names are compared by their letters and digits, without "tf.distribute." and the like in
// front and "Strategy" behind.

namespace clade {

namespace {

struct other_name {
  std::string_view name; ///< The name, as `compared` gives it.
  std::string_view here;
};

constexpr std::array other_names{
    other_name{"default", "one_device"},
    other_name{"single", "one_device"},
    other_name{"dp", "mirrored"},
    other_name{"dataparallel", "mirrored"},
    other_name{"ddp", "multi_worker_mirrored"},
    other_name{"distributeddataparallel", "multi_worker_mirrored"},
    other_name{"horovod", "multi_worker_mirrored"},
    other_name{"allreduce", "multi_worker_mirrored"},
    other_name{"ringallreduce", "multi_worker_mirrored"},
    other_name{"multiworker", "multi_worker_mirrored"},
    other_name{"collectiveallreduce", "multi_worker_mirrored"},
    other_name{"fedavg", "local_sgd"},
    other_name{"federated", "local_sgd"},
    other_name{"federatedaveraging", "local_sgd"},
    other_name{"diloco", "local_sgd"},
    other_name{"fsdp", "sharded"},
    other_name{"fsdp2", "sharded"},
    other_name{"fullyshard", "sharded"},
    other_name{"fullyshardeddataparallel", "sharded"},
    other_name{"zero", "sharded"},
    other_name{"zero1", "sharded"},
    other_name{"zero2", "sharded"},
    other_name{"zero3", "sharded"},
    other_name{"zerostage3", "sharded"},
    other_name{"deepspeed", "sharded"},
    other_name{"deepspeedzero3", "sharded"},
    other_name{"gpipe", "pipeline"},
    other_name{"1f1b", "pipeline"},
    other_name{"pipedream", "pipeline"},
    other_name{"pipelineparallel", "pipeline"},
    other_name{"modelparallel", "pipeline"},
    other_name{"pp", "pipeline"},
    other_name{"ps", "parameter_server"},
    other_name{"hogwild", "peer_to_peer"},
    other_name{"gossip", "peer_to_peer"},
};

std::string compared(std::string_view name) {
  std::string letters;
  for (const char c : name.substr(name.rfind('.') + 1)) {
    if (c >= 'A' && c <= 'Z')
      letters += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      letters += c;
  }
  constexpr std::string_view behind = "strategy";
  if (letters.size() > behind.size() && letters.ends_with(behind))
    letters.resize(letters.size() - behind.size());
  return letters;
}

// With fewer, copies have drifted apart when the epoch's last average is validated.
constexpr std::uint64_t enough_averages = 4;

} // namespace

std::string_view known_elsewhere_as(std::string_view name) {
  const auto wanted = compared(name);
  for (const auto& row : distribution_rows())
    if (compared(row.name) == wanted)
      return row.name;
  const auto found = std::ranges::find(other_names, wanted, &other_name::name);
  return found == other_names.end() ? std::string_view() : found->here;
}

std::string note_on_devices(const distribution_params& params, std::size_t slots) {
  const auto* row = find_distribution(params.name);
  if (row == nullptr || !row->divides || params.divided())
    return "";
  const auto some = std::max<std::size_t>(slots, 2);
  return fmt::format(
      "training.distribution = \"{}\" divides nothing, as training.devices = 1: a "
      "training takes one slot{}; training.devices = {} divides it",
      params.name, slots > 1 ? fmt::format(" of {}", slots) : "",
      std::min<std::size_t>(some, most_devices));
}

std::string note_on_averages(const distribution_params& params, std::uint64_t steps) {
  const auto* row = find_distribution(params.name);
  if (row == nullptr || !row->averages || params.devices < 2 || steps < 2
      || params.average_every == 1)
    return "";
  const auto averages = (steps + params.average_every - 1) / params.average_every;
  if (averages >= std::min(enough_averages, steps))
    return "";
  const auto better = std::max<std::uint64_t>(1, steps / enough_averages);
  return fmt::format("an epoch has {} steps, so that by training.average_every = {} the "
                     "copies of local_sgd are averaged {} and learn less than one "
                     "network would; training.average_every = {} averages them {} times",
                     steps, params.average_every,
                     averages == 1 ? std::string("at its end alone")
                                   : fmt::format("{} times in it", averages),
                     better, (steps + better - 1) / better);
}

} // namespace clade
