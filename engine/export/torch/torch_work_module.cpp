#include "engine/export/torch/torch_work.hpp"

extern "C" __attribute__((visibility("default"))) bool
clade_make_torch_work(const clade::torch_work_contract& contract,
                      std::unique_ptr<clade::torch_work>& made) {
  if (contract != clade::torch_work_contract{})
    return false;
  made = clade::make_torch_work();
  return true;
}
