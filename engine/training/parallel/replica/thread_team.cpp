#include "engine/training/parallel/replica/thread_team.hpp"

#include <algorithm>

namespace clade {

thread_team::thread_team(std::size_t parts, std::function<void()> prepare)
    : prepare_(std::move(prepare)),
      failures_(parts),
      begins_(static_cast<std::ptrdiff_t>(parts)),
      ends_(static_cast<std::ptrdiff_t>(parts)) {
  for (std::size_t part = 1; part < parts; ++part)
    threads_.emplace_back([this, part] { serve(part); });
}

thread_team::~thread_team() {
  work_ = nullptr;
  begins_.arrive_and_wait();
  for (auto& t : threads_)
    t.join();
}

void thread_team::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  begins_.arrive_and_wait();
  do_part(0);
  ends_.arrive_and_wait();
  const auto first =
      std::ranges::find_if(failures_, [](const auto& f) { return f != nullptr; });
  if (first == failures_.end())
    return;
  const auto failure = *first;
  std::ranges::fill(failures_, nullptr);
  std::rethrow_exception(failure);
}

void thread_team::serve(std::size_t part) {
  prepare_();
  for (;;) {
    begins_.arrive_and_wait();
    if (work_ == nullptr)
      return;
    do_part(part);
    ends_.arrive_and_wait();
  }
}

void thread_team::do_part(std::size_t part) {
  try {
    (*work_)(part);
  } catch (...) {
    failures_[part] = std::current_exception();
  }
}

} // namespace clade
