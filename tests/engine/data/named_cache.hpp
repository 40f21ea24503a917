#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace clade {

/// Names the folder of the cache while it lives.
class named_cache {
public:
  explicit named_cache(const std::filesystem::path& folder) {
    if (const char* before = std::getenv("CLADE_CACHE"))
      before_ = before;
    ::setenv("CLADE_CACHE", folder.c_str(), 1);
  }
  ~named_cache() {
    if (before_.empty())
      ::unsetenv("CLADE_CACHE");
    else
      ::setenv("CLADE_CACHE", before_.c_str(), 1);
  }
  named_cache(const named_cache&) = delete;
  named_cache& operator=(const named_cache&) = delete;

private:
  std::string before_;
};

} // namespace clade
