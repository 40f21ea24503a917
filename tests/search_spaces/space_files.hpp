#pragma once

#include "search_spaces/operators/network.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace clade {

/// A folder of its own for one test's files, gone with it.
class scratch_folder {
public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const;

private:
  std::filesystem::path path_;
};

/// A search space from the repository: "image.toml".
[[nodiscard]] search_space real_space(const std::string& name);

/// "space.toml" with the text's tables; the test fails if it has a mistake.
[[nodiscard]] search_space a_space(std::string_view text);

/// Returns what is said of a space in the file "a.toml"; "no complaint" if nothing is wrong.
/// The test fails if it is no mistake of the file's.
[[nodiscard]] std::string complaint(std::string_view text);

/// The layers of a network in its order, each as its name behind the gene's, its operator and
/// the shape of what comes out: "stem conv [4, 8, 8]".
[[nodiscard]] std::vector<std::string> layers_told(const network& n);

/// For images, with all operators and high limits.
[[nodiscard]] search_space an_image_space();

/// For 8x8 images of one channel and ten classes.
[[nodiscard]] problem digits();

/// The parts of a node besides its number: its operator and settings.
struct node_text {
  std::string op;
  std::vector<setting> settings;
};

/// Builds a genome: nodes are numbered from 0x10, `edges` name them by place, with -1 for
/// the input and -2 for the output.
[[nodiscard]] genome a_genome(const std::vector<node_text>& nodes,
                              const std::vector<std::pair<int, int>>& edges);

/// The nodes one after another, from input to output.
[[nodiscard]] genome a_chain(const std::vector<node_text>& nodes);

} // namespace clade
