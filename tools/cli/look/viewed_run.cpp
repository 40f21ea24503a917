#include "tools/cli/look/viewed_run.hpp"

#include "engine/evaluation/process/process_table.hpp"
#include "engine/report/text/json.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/run_problem.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/views/web/orders.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct model_format {
  const char *name, *option, *suffix;
};
constexpr std::array formats{
    model_format{"onnx", "--onnx", ".onnx"},
    model_format{"torchscript", "--torchscript", ".pt"},
    model_format{"safetensors", "--safetensors", ".safetensors"},
};

/// The problem of a run, read once; why it cannot be had is as lasting.
class known_problem {
public:
  explicit known_problem(fs::path file) : file_(std::move(file)) {}

  expected<std::string> costs(const genome& g) {
    const std::lock_guard lock(mutex_);
    if (!known_)
      known_ = store::open_to_read(file_)
                   .and_then([&](const store& s) { return load_run_problem(s, file_); })
                   .map([](run_problem p) {
                     p.data.reset(); // The largest part, and no longer needed.
                     return p;
                   });
    if (!*known_)
      return tl::unexpected(known_->error());
    const auto& p = **known_;
    return decode(p.experiment.space, g, p.problem).map([&](const network& n) {
      return to_json(costs_by_node(n, g));
    });
  }

private:
  fs::path file_;
  std::mutex mutex_;
  std::optional<expected<run_problem>> known_;
};

/// A folder that is gone with this.
class scratch {
public:
  scratch() {
    auto name = (fs::temp_directory_path() / "clade-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

/// Makes the file in a process of its own, as the command line does: what that loads is
/// gone with it.
expected<web_file> make_model(const fs::path& run, candidate_id id,
                              const std::string& name) {
  const auto* format = std::ranges::find(formats, name, &model_format::name);
  if (format == formats.end())
    return fail(
        error_kind::invalid_input,
        fmt::format("format is onnx, torchscript or safetensors, not \"{}\"", name));
  const scratch folder;
  if (folder.path().empty())
    return fail(error_kind::io, "no folder can be made for the model");
  const auto file =
      folder.path()
      / (fmt::format("{}-{}{}", parse_run_folder(run).name, id, format->suffix));
  auto made = run_outside({.command = {own_program().string(), "export", run.string(),
                                       std::to_string(id), format->option, file.string()},
                           .input = {},
                           .keep_errors = true});
  if (!made)
    return tl::unexpected(made.error());
  if (made->status != 0)
    return fail(error_kind::invalid_input, made->output);
  std::ifstream in(file, std::ios::binary);
  return web_file{.name = file.filename().string(),
                  .bytes = {std::istreambuf_iterator<char>(in), {}}};
}

expected<std::string> runs_beside(const fs::path& runs) {
  const auto folders = list_run_folders(runs);
  if (!folders)
    return tl::unexpected(folders.error());
  std::string out;
  for (const auto& f : *folders) {
    // One that cannot be read is `clade list`'s to complain of.
    const auto told = store::open_to_read(f.store_file()).and_then([&](const store& s) {
      return view_run(s, f.store_file());
    });
    if (told)
      out += (out.empty() ? "" : ",") + to_json(*told);
  }
  return fmt::format("[{}]", out);
}

expected<std::string> run_beside(const fs::path& runs, const std::string& folder) {
  const auto folders = list_run_folders(runs);
  if (!folders)
    return tl::unexpected(folders.error());
  const auto found = std::ranges::find(
      *folders, folder, [](const run_folder& f) { return f.path.filename().string(); });
  if (found == folders->end())
    return fail(error_kind::not_found, "no run " + folder);
  const auto file = found->store_file();
  return store::open_to_read(file).and_then([&](const store& s) -> expected<std::string> {
    const auto view = view_run(s, file);
    if (!view)
      return tl::unexpected(view.error());
    return s.generations(0, std::numeric_limits<std::size_t>::max())
        .map([&](const auto& generations) { return to_json(*view, generations, {}); });
  });
}

expected<std::string> verdict_of(const fs::path& file) {
  return store::open_to_read(file)
      .and_then([](const store& s) { return view_champion(s, nullptr, nullptr); })
      .map([](const champion_view& c) { return verdict_json(c); });
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

} // namespace

web_hooks hooks_of(const watched_run& run) {
  web_hooks hooks{.user = user_name(), .host = host_name()};
  const auto file = find_store(run.run);
  if (!file) // The run is on another machine.
    return hooks;
  const auto folder = fs::absolute(*file).lexically_normal().parent_path();
  const auto runs = folder.parent_path();
  auto problem = std::make_shared<known_problem>(*file);
  hooks.costs = [problem](const genome& g) { return problem->costs(g); };
  hooks.model = [folder](candidate_id id, const std::string& format) {
    return make_model(folder, id, format);
  };
  hooks.verdict = [file = *file] { return verdict_of(file); };
  hooks.runs = [runs] { return runs_beside(runs); };
  hooks.run = [runs](const std::string& name) { return run_beside(runs, name); };
  hooks.add = [runs](const std::string& name, candidate_id id) {
    // A page names runs, and no other files.
    if (name.find('/') != std::string::npos)
      return expected<instruction>(fail(error_kind::invalid_input, "no run " + name));
    return order_to_add(name, id, runs);
  };
  return hooks;
}

} // namespace clade
