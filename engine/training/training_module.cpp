#include "engine/training/module.hpp"
#include "engine/training/trainer.hpp"

extern "C" __attribute__((visibility("default"))) bool
clade_make_training(clade::training_module_contract contract,
                    const clade::training_setup& setup,
                    clade::expected<std::unique_ptr<clade::fitness_function>>& made) {
  if (contract.version != clade::training_module_version
      || contract.setup_bytes != sizeof(clade::training_setup))
    return false;
  made = clade::make_trainer(setup);
  return true;
}
