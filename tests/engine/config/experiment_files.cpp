#include "tests/engine/config/experiment_files.hpp"

#include <stdexcept>

namespace clade {

const std::string experiment_files::valid = R"([experiment]
name = "tiny"
seed = 7

[data]
file = "data/x.csv"

[search_space]
file = "vectors.toml"

[objective]
maximize = ["validation.accuracy"]

[evolution]
population = 12
elites = 2
strategy = "generational"
[training]
epochs = 3

[limits]
evaluation_time = "2min"

[slots]
local = "auto"
)";

experiment_files::experiment_files() {
  write_text(folder() / "vectors.toml",
             "[limits]\nmax_nodes = 3\n"
             "[operators.dense]\nunits = [8, 16]\n"
             "[hyperparameters]\n"
             "learning_rate = {low = 0.001, high = 0.1, log = true}\n");
  write_text(folder() / "images.toml",
             "image = true\n[operators.conv]\nfilters = [8, 16]\n"
             "kernel = 3\n");
}

std::string experiment_files::with(const std::string& line,
                                   const std::string& text) const {
  const std::size_t at = valid.find("\n" + line);
  if (at == std::string::npos)
    throw std::invalid_argument(line);
  const std::size_t end = valid.find('\n', at + 1);
  return valid.substr(0, at + 1) + text + valid.substr(end);
}

expected<experiment>
experiment_files::load(const std::string& text,
                       const std::vector<std::string>& overrides) const {
  write_text(folder() / "x.toml", text);
  return load_experiment(folder() / "x.toml", overrides);
}

experiment experiment_files::loaded(const std::string& text,
                                    const std::vector<std::string>& overrides) const {
  auto e = load(text, overrides);
  if (!e)
    throw std::runtime_error(e.error().message);
  return std::move(*e);
}

std::string experiment_files::error_of(const std::string& text,
                                       const std::vector<std::string>& overrides) const {
  const auto e = load(text, overrides);
  if (e)
    return "no error";
  std::string message = e.error().message;
  const std::string prefix = folder().string() + "/";
  for (std::size_t at = message.find(prefix); at != std::string::npos;
       at = message.find(prefix))
    message.erase(at, prefix.size());
  return message;
}

} // namespace clade
