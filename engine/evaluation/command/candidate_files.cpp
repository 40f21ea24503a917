#include "engine/evaluation/command/candidate_files.hpp"

#include "engine/evaluation/command/checkpoint_folder.hpp"
#include "engine/evaluation/command/placeholders.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

namespace clade {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::string_view folder_prefix = "clade-command-";
constexpr int most_tries = 8;

const std::map<std::string, network_format> network_words{
    {"python_file", network_format::python}, {"onnx_file", network_format::onnx}};

json settings_json(const std::vector<setting>& settings) {
  json out = json::object();
  for (const auto& s : settings)
    out[s.name] = std::visit([](const auto& v) { return json(v); }, s.value);
  return out;
}

/// Returns JSON as `genome_from_json` (tools/serve) reads it.
json genome_json(const genome& g) {
  std::map<innovation, std::size_t> places;
  const auto order = topological_order(g);
  for (const auto id : order)
    if (id != output_innovation)
      places.emplace(id, places.size());
  const auto inputs_of = [&](innovation node) {
    std::vector<std::size_t> inputs;
    for (const auto& e : g.edges)
      if (e.to == node && e.is_forward() && places.contains(e.from))
        inputs.push_back(places.at(e.from));
    std::ranges::sort(inputs);
    return inputs;
  };
  const auto recurrent_of = [&](innovation node) {
    json all = json::array();
    for (const auto& e : g.edges)
      if (e.to == node && e.recurrent() && places.contains(e.from))
        all.push_back({{"input", places.at(e.from)}, {"steps", e.delay}});
    return all;
  };
  json layers = json::array(), output;
  for (const auto id : order) {
    const auto& node = *find_node(g, id);
    json one{{"inputs", inputs_of(id)}, {"settings", settings_json(node.settings)}};
    if (auto recurrent = recurrent_of(id); !recurrent.empty())
      one["recurrent"] = std::move(recurrent);
    if (id == output_innovation) {
      output = std::move(one);
      continue;
    }
    if (id == input_innovation)
      continue;
    one["op"] = node.op;
    layers.push_back(std::move(one));
  }
  return {{"layers", std::move(layers)}, {"output", std::move(output)}};
}

/// Fits every library's generator, and JSON's numbers.
std::uint64_t seed_of(const job& j) {
  const auto network = canonical_hash(j.genome);
  return derive(j.seed, purpose::training, network.high, network.low).next() >> 33;
}

std::string text_of(const value& v) {
  if (const auto* text = std::get_if<std::string>(&v))
    return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&v))
    return std::to_string(*whole);
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::get<double>(v))
          .ptr;
  return {digits.data(), end};
}

/// "CLADE_GENOME_FILE"
std::string variable(std::string_view prefix, std::string_view word) {
  std::string name(prefix);
  for (const char c : word)
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

expected<void> write_small_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out ? expected<void>{}
             : fail(error_kind::io,
                    file.string() + " cannot be written: is there room in TMPDIR?");
}

expected<void> make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directory(folder, failed);
  return failed ? fail(error_kind::io,
                       fmt::format("{}: {}", folder.string(), failed.message()))
                : expected<void>{};
}

/// Whether this open file is still the one at that path: its folder may have been removed.
bool is_at(const fs::path& path, int descriptor) {
  struct stat at_path {
  }, of_descriptor{};
  return ::stat(path.c_str(), &at_path) == 0 && ::fstat(descriptor, &of_descriptor) == 0
         && at_path.st_dev == of_descriptor.st_dev
         && at_path.st_ino == of_descriptor.st_ino;
}

/// The lock of such a folder; none where another process holds it, or it is gone.
unique_fd lock_of(const fs::path& folder, int flags) {
  const auto file = folder / "lock";
  unique_fd lock(::open(file.c_str(), flags | O_RDWR | O_CLOEXEC, 0600));
  if (lock && (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(file, lock.get())))
    lock.reset();
  return lock;
}

/// Removes what this user's processes left that did not end by themselves.
void remove_left(const fs::path& in) {
  std::error_code failed;
  for (fs::directory_iterator at(in, failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto& path = at->path();
    struct stat is {};
    if (!path.filename().string().starts_with(folder_prefix)
        || ::lstat(path.c_str(), &is) != 0 || !S_ISDIR(is.st_mode)
        || is.st_uid != ::getuid())
      continue;
    if (const auto lock = lock_of(path, 0)) {
      std::error_code ignored; // Nobody waits for its end.
      fs::remove_all(path, ignored);
    }
  }
}

} // namespace

std::string command_input(const job& j) {
  return json{{"candidate", j.id},
              {"seed", seed_of(j)},
              {"epochs", j.budget.epochs},
              {"hyperparameters", settings_json(j.genome.hyperparameters)},
              {"genome", genome_json(j.genome)}}
             .dump()
         + "\n";
}

const std::vector<std::string>& placeholder_words() {
  static const std::vector<std::string> words{"candidate",
                                              "seed",
                                              "epochs",
                                              "start_epoch",
                                              "cores",
                                              "work_folder",
                                              "genome_file",
                                              "python_file",
                                              "onnx_file",
                                              "params_file",
                                              "checkpoint_folder",
                                              "tensorboard_folder",
                                              "report_file"};
  return words;
}

expected<work_folders> work_folders::make() {
  std::error_code failed;
  const auto in = fs::temp_directory_path(failed);
  if (failed)
    return fail(error_kind::io, "TMPDIR is no folder: " + failed.message());
  remove_left(in);
  // Until it is locked, another process may take it for one that was left.
  for (int i = 0; i < most_tries; ++i) {
    auto name = (in / (std::string(folder_prefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      return fail(error_kind::io, fmt::format("no folder can be made in {}: {}",
                                              in.string(), std::strerror(errno)));
    if (auto lock = lock_of(name, O_CREAT))
      return work_folders(name, std::move(lock));
  }
  return fail(error_kind::io, fmt::format("no folder in {} can be locked", in.string()));
}

work_folders::~work_folders() {
  std::error_code ignored; // The next process tries again.
  if (lock_)
    fs::remove_all(path_, ignored);
}

expected<candidate_files>
candidate_files::make(const work_folders& all, const command_setup& setup, const job& j) {
  // One that a former try left behind, as it could not be removed, is in nobody's way.
  auto name = (all.path() / (fmt::format("{}-XXXXXX", j.id))).string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(error_kind::io,
                fmt::format("{} cannot be made: {}", name, std::strerror(errno)));
  candidate_files files(name, setup);
  if (auto written = files.write(j); !written)
    return tl::unexpected(written.error());
  return files;
}

expected<void> candidate_files::write(const job& j) {
  const auto& params = setup_->params;
  const bool goes_on = params.checkpoints && !j.checkpoint.empty();
  if (goes_on)
    start_epoch_ = j.start_epoch;
  values_ = {{"candidate", std::to_string(j.id)},
             {"seed", std::to_string(seed_of(j))},
             {"epochs", std::to_string(j.budget.epochs)},
             {"start_epoch", std::to_string(start_epoch_)},
             {"cores", std::to_string(available_cores())},
             {"work_folder", folder_.string()},
             {"genome_file", (folder_ / "genome.json").string()},
             {"params_file", (folder_ / "params.json").string()},
             {"report_file", report_file().string()}};
  for (const auto& h : j.genome.hyperparameters)
    hyperparameters_.emplace(h.name, text_of(h.value));
  if (params.checkpoints)
    values_.emplace("checkpoint_folder", checkpoint_folder().string());
  if (params.metrics == "tensorboard")
    values_.emplace("tensorboard_folder", tensorboard_folder().string());
  expected<void> made;
  const auto then = [&](auto step) {
    if (made)
      made = step();
  };
  then([&] {
    return write_small_file(values_.at("genome_file"),
                            genome_json(j.genome).dump() + "\n");
  });
  then([&] {
    return write_small_file(values_.at("params_file"),
                            settings_json(j.genome.hyperparameters).dump() + "\n");
  });
  for (const auto& [word, format] : network_words)
    if (is_named(word))
      then([&] { return write_network(word, format, j); });
  if (params.metrics == "tensorboard")
    then([&] { return make_folder(tensorboard_folder()); });
  if (params.checkpoints)
    then([&] { return make_folder(checkpoint_folder()); });
  if (goes_on)
    then([&] { return unpack_folder(j.checkpoint, checkpoint_folder()); });
  if (params.copy)
    then([&]() -> expected<void> {
      std::error_code failed;
      fs::copy(params.directory, directory(),
               fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
      return failed ? fail(error_kind::io,
                           fmt::format("{} cannot be copied: {}",
                                       params.directory.string(), failed.message()))
                    : expected<void>{};
    });
  return made;
}

bool candidate_files::is_named(const std::string& word) const {
  const auto has = [&](const std::string& text) {
    const auto names = placeholders_of(text);
    return std::ranges::find(names, word) != names.end();
  };
  const auto& params = setup_->params;
  return std::ranges::any_of(params.run, has)
         || std::ranges::any_of(params.environment,
                                [&](const auto& v) { return has(v.second); });
}

expected<void> candidate_files::write_network(const std::string& word,
                                              network_format format, const job& j) {
  if (!setup_->host.write_network)
    return fail(error_kind::internal, "nothing here writes networks");
  const auto decoded = decode(setup_->space, j.genome, setup_->problem);
  if (!decoded)
    return tl::unexpected(decoded.error());
  const auto files = setup_->host.write_network(
      format, {.layers = *decoded, .problem = setup_->problem, .seed = seed_of(j)});
  if (!files)
    return tl::unexpected(files.error());
  for (const auto& file : *files)
    if (auto written = write_small_file(folder_ / file.name, file.content); !written)
      return written;
  values_.emplace(word, (folder_ / files->front().name).string());
  return {};
}

candidate_files::candidate_files(candidate_files&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      setup_(other.setup_),
      start_epoch_(other.start_epoch_),
      values_(std::move(other.values_)),
      hyperparameters_(std::move(other.hyperparameters_)) {}

candidate_files::~candidate_files() {
  std::error_code ignored; // It is tried again at the end of the process.
  if (folder_.empty())
    return;
  // The program may have taken its rights.
  fs::permissions(folder_, fs::perms::owner_all, ignored);
  fs::remove_all(folder_, ignored);
}

std::string candidate_files::filled(std::string_view text) const {
  return fill_placeholders(
      text, [this](const std::string& name) -> std::optional<std::string> {
        if (const auto h = hyperparameters_.find(name); h != hyperparameters_.end())
          return h->second;
        if (std::ranges::find(setup_->space.rules.hyperparameters, name, &parameter::name)
            != setup_->space.rules.hyperparameters.end())
          return "";
        const auto v = values_.find(name);
        return v == values_.end() ? std::nullopt : std::optional(v->second);
      });
}

std::vector<std::string> candidate_files::command() const {
  std::vector<std::string> words;
  for (const auto& word : setup_->params.run)
    words.push_back(filled(word));
  return words;
}

std::vector<std::string> candidate_files::environment() const {
  std::vector<std::string> all;
  for (const auto& [name, text] : setup_->params.environment)
    all.push_back(fmt::format("{}={}", name, filled(text)));
  for (const auto& [word, text] : values_)
    all.push_back(fmt::format("{}={}", variable("CLADE_", word), text));
  for (const auto& [name, text] : hyperparameters_)
    all.push_back(fmt::format("{}={}", variable("CLADE_PARAM_", name), text));
  return all;
}

fs::path candidate_files::directory() const {
  return setup_->params.copy ? folder_ / "directory" : setup_->params.directory;
}

fs::path candidate_files::metrics_file() const {
  return directory() / filled(setup_->params.metrics);
}

} // namespace clade
