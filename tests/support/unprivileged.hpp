#pragma once

#include <unistd.h>

namespace clade {

/// While it lives, root is nobody, whom permissions hold; others stay who they are.
class unprivileged {
public:
  unprivileged() : root_(::geteuid() == 0 && ::seteuid(65'534) == 0) {}
  ~unprivileged() {
    if (root_ && ::seteuid(0) != 0)
      ::_exit(1);
  }
  unprivileged(const unprivileged&) = delete;
  unprivileged& operator=(const unprivileged&) = delete;

private:
  bool root_;
};

} // namespace clade
