#include "tests/engine/training/thread_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <memory>

namespace clade::test {
namespace {

struct account {
  std::atomic<std::int64_t> now = 0, most = 0;

  void add(std::int64_t bytes) {
    const auto all = now += bytes;
    if (all > most)
      most = all;
  }
};

const std::shared_ptr<account>& own_account() {
  thread_local const auto own = std::make_shared<account>();
  return own;
}

struct counted {
  c10::DataPtr values;
  std::shared_ptr<account> of;
  std::int64_t bytes;
};

class counting_allocator final : public c10::Allocator {
public:
  explicit counting_allocator(c10::Allocator* inner) : inner_(inner) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    auto made = std::make_unique<counted>(counted{inner_->allocate(bytes), own_account(),
                                                  static_cast<std::int64_t>(bytes)});
    made->of->add(made->bytes);
    auto* values = made->values.get();
    return {values, made.release(),
            [](void* context) {
              const std::unique_ptr<counted> gone(static_cast<counted*>(context));
              gone->of->add(-gone->bytes);
            },
            c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  [[nodiscard]] c10::Allocator* inner() const { return inner_; }

private:
  c10::Allocator* inner_;
};

// Tensors may outlive the count.
counting_allocator& counting() {
  static counting_allocator all(c10::GetCPUAllocator());
  return all;
}

// A value that is set with a lower priority is passed over.
constexpr std::uint8_t above_usual = 1;

} // namespace

tensor_count::tensor_count() {
  c10::SetCPUAllocator(&counting(), above_usual);
}

tensor_count::~tensor_count() {
  c10::SetCPUAllocator(counting().inner(), above_usual);
}

std::int64_t tensor_count::most() {
  return own_account()->most;
}

void tensor_count::forget_most() {
  own_account()->most = own_account()->now.load();
}

} // namespace clade::test
