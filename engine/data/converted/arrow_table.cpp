#include "engine/data/converted/arrow_table.hpp"

#include "engine/data/converted/table_readers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace clade {
namespace {

/// Opens the module for good: Arrow starts threads, and cannot be taken out again.
expected<read_arrow_function> open_module() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto module = program.parent_path() / arrow_module_name;
  if (failed || !std::filesystem::exists(module, failed))
    return fail(
        error_kind::not_found,
        "is a Parquet or Arrow file, which this build cannot read, as it was built "
        "without Arrow; pandas.read_parquet(FILE) or read_feather(FILE), and "
        ".to_csv(\"data.csv\", index=False), make a CSV of it");
  void* handle = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    return fail(error_kind::not_found,
                fmt::format("cannot be read: the module for it cannot be loaded ({})",
                            ::dlerror()));
  void* symbol = ::dlsym(handle, arrow_module_symbol);
  if (symbol == nullptr)
    return fail(error_kind::conflict, fmt::format("cannot be read: {} has no {}",
                                                  module.string(), arrow_module_symbol));
  return reinterpret_cast<read_arrow_function>(symbol);
}

} // namespace

expected<converted_table> read_arrow_table(std::string_view bytes,
                                           const table_choice& which) {
  const auto read = open_module();
  if (!read)
    return tl::unexpected(read.error());
  expected<converted_table> out;
  if (!(*read)(arrow_module_version, bytes, which, out))
    return fail(error_kind::conflict, "cannot be read: the module for it is of another "
                                      "build than this program; build again");
  return out;
}

} // namespace clade
