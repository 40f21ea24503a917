#include "engine/training/final/device_work.hpp"
#include "engine/training/final/module.hpp"
#include "engine/training/final/trainer.hpp"
#include "engine/training/loop/zero_cost.hpp"

#include <malloc.h>

// Node processes come through the first door, and what is set there is set for them
// alone; a run's head comes through the second, `clade doctor` through the third.

namespace {

// Every batch allocates the same activations again. glibc would give them back to the
// system in between, which costs a tenth of the time in page faults.
void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

bool agrees(clade::training_module_contract contract) {
  return contract.version == clade::training_module_version
         && contract.setup_bytes == sizeof(clade::training_setup);
}

} // namespace

extern "C" __attribute__((visibility("default"))) bool
clade_make_training(clade::training_module_contract contract,
                    const clade::training_setup& setup,
                    clade::expected<std::unique_ptr<clade::fitness_function>>& made) {
  if (!agrees(contract))
    return false;
  keep_freed_memory();
  made = clade::make_trainer(setup);
  return true;
}

extern "C" __attribute__((visibility("default"))) bool clade_make_zero_cost_scorer(
    clade::training_module_contract contract, const clade::training_setup& setup,
    clade::expected<std::unique_ptr<clade::zero_cost_scorer>>& made) {
  if (!agrees(contract))
    return false;
  made = clade::make_zero_cost_scorer(setup);
  return true;
}

extern "C" __attribute__((visibility("default"))) bool
clade_make_device_work(std::uint32_t version, const std::string& device,
                       clade::loaded_device_work& made) {
  if (version != clade::training_module_version)
    return false;
  made = {clade::built_torch(), clade::make_device_work(device)};
  return true;
}
