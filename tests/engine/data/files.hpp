#pragma once

#include "engine/data/reading/data_set.hpp"
#include "tests/support/scratch.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// Writes the file and returns its path.
std::filesystem::path write(const scratch_folder& folder, const std::string& name,
                            const std::string& bytes);

/// Zipped in one member.
[[nodiscard]] std::string gzip(std::string_view bytes);

/// An IDX file of unsigned bytes.
[[nodiscard]] std::string idx(const std::vector<std::uint32_t>& sizes,
                              std::string_view values);

/// A .npy file of version 1, as numpy writes it.
[[nodiscard]] std::string npy(std::string_view descr, std::string_view shape,
                              std::string_view values);

/// A .npz of members (name, bytes), as numpy.savez_compressed writes them, or stored.
[[nodiscard]] std::string
npz(const std::vector<std::pair<std::string, std::string>>& members,
    bool compressed = false);

/// A .npz of one member as numpy.savez writes it: stored, its sizes in the extra field of
/// zip64.
[[nodiscard]] std::string npz64(const std::string& name, const std::string& bytes);

/// The bytes of numbers, in this machine's order.
template<class T>
[[nodiscard]] std::string raw(std::initializer_list<T> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T)};
}

/// The text without that folder.
[[nodiscard]] std::string without(std::string text, const scratch_folder& folder);

/// Writes `bytes` to `name` in a folder of its own, loads it, and returns the error's
/// text with that folder left out; "no error" if there was none.
[[nodiscard]] std::string error_of(const std::string& name, const std::string& bytes,
                                   data_params params = {});

} // namespace clade
