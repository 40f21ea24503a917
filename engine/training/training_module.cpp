#include "engine/training/module.hpp"
#include "engine/training/trainer.hpp"

#include <malloc.h>

// Only node processes come through this door, so that what is set here is set for them
// alone.

namespace {

// Every batch allocates the same activations again. glibc would give them back to the
// system in between, which costs a tenth of the time in page faults.
void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

} // namespace

extern "C" __attribute__((visibility("default"))) bool
clade_make_training(clade::training_module_contract contract,
                    const clade::training_setup& setup,
                    clade::expected<std::unique_ptr<clade::fitness_function>>& made) {
  if (contract.version != clade::training_module_version
      || contract.setup_bytes != sizeof(clade::training_setup))
    return false;
  keep_freed_memory();
  made = clade::make_trainer(setup);
  return true;
}
