#include "engine/export/rows/optuna_study.hpp"
#include "engine/export/source/onnx_model.hpp"
#include "engine/export/source/python_source.hpp"
#include "engine/export/source/safetensors.hpp"
#include "engine/export/source/text_source.hpp"
#include "engine/export/torch/torch_work.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/training/asked/training_params.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/take/exported_run.hpp"
#include "tools/machine/output_file.hpp"
#include "tools/machine/slots.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct export_options {
  std::string run, id;
  fs::path python, safetensors, onnx, torchscript; ///< The files of a network.
  fs::path csv, optuna;                            ///< The files of the whole run.

  [[nodiscard]] bool of_network() const {
    return !python.empty() || !safetensors.empty() || !onnx.empty()
           || !torchscript.empty();
  }
  [[nodiscard]] bool of_run() const { return !csv.empty() || !optuna.empty(); }
};

expected<void> write_python(const exported_model& m, const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    return fail(
        error_kind::invalid_input,
        fmt::format("cannot make the folder {}: {}", folder.string(), failure.message()));
  return write_output(folder / "model.py", python_source(m)).and_then([&] {
    return write_output(folder / "model.safetensors", encode_safetensors(m));
  });
}

/// Says what is written, one after the other, until something fails.
class writing {
public:
  explicit writing(std::string what) : what_(std::move(what)) {}

  template<class Write>
  void to(const fs::path& place, Write write) {
    if (!done_ || place.empty())
      return;
    done_ = write();
    // The output is alone in the place to which it goes.
    auto& said = is_standard_output(place) ? std::cerr : std::cout;
    if (done_)
      said << "wrote " << what_ << " to " << place.string() << std::endl;
  }

  [[nodiscard]] expected<void> end() { return std::move(done_); }

private:
  std::string what_;
  expected<void> done_;
};

expected<void> write_network(const fs::path& file, const export_options& options) {
  // Before the data is read, which may take its time.
  if (!options.torchscript.empty())
    if (auto found = find_training(torch_export_path()); !found)
      return found;
  const auto m = find_exported(file, options.id);
  if (!m)
    return tl::unexpected(m.error());
  if ((!options.onnx.empty() || !options.torchscript.empty()) && has_text_columns(m->how))
    std::cerr << "clade: sentences are not taken apart within ONNX and TorchScript: give "
                 "them what encode(rows) of --python FOLDER makes of rows\n";
  writing out(title_of(*m));
  out.to(options.python, [&] { return write_python(*m, options.python); });
  out.to(options.safetensors,
         [&] { return write_output(options.safetensors, encode_safetensors(*m)); });
  out.to(options.onnx, [&] { return write_output(options.onnx, encode_onnx(*m)); });
  out.to(options.torchscript, [&] {
    return load_torch_work(torch_export_path())
        .and_then([&](const auto& work) { return work->torchscript(*m); })
        .and_then([&](const std::string& module) {
          return write_output(options.torchscript, module);
        });
  });
  return out.end();
}

expected<void> write_run(const fs::path& file, const export_options& options) {
  const auto s = store::open_to_read(file);
  if (!s)
    return tl::unexpected(s.error());
  const auto e = read_experiment_of(*s, file);
  if (!e)
    return tl::unexpected(e.error());
  const auto name = name_of_run(file);
  writing out("all evaluations of " + name);
  out.to(options.csv, [&] {
    return output_file::open(options.csv, say_waiting).and_then([&](output_file file) {
      return write_csv(*s, *e, file.stream()).and_then([&] { return file.finish(); });
    });
  });
  out.to(options.optuna,
         [&] { return write_optuna_study(*s, *e, name, options.optuna); });
  return out.end();
}

expected<void> export_run(const export_options& options) {
  if (!options.of_network() && !options.of_run())
    return fail(error_kind::invalid_input,
                "nothing to write: say what, such as --python FOLDER; clade export "
                "--help names them all");
  if (!options.of_network() && !options.id.empty())
    return fail(error_kind::invalid_input,
                "--csv and --optuna have all candidates; leave out " + options.id);
  const auto file = find_store(options.run);
  if (!file)
    return tl::unexpected(file.error());
  if (options.of_network())
    if (auto written = write_network(*file, options); !written)
      return written;
  return options.of_run() ? write_run(*file, options) : expected<void>();
}

} // namespace

void add_export(CLI::App& app, command& chosen) {
  auto options = std::make_shared<export_options>();
  auto* sub = app.add_subcommand("export",
                                 "Take a network, or what was found, to other programs");
  sub->add_option("run", options->run,
                  "The run: its folder, its name (for the latest of it), or its store")
      ->required()
      ->option_text("RUN");
  sub->add_option("id", options->id,
                  "The candidate; else the final model, the champion, or the best so far")
      ->option_text("[ID]");
  sub->add_option("--python", options->python,
                  "A readable model.py of plain PyTorch and model.safetensors")
      ->option_text("FOLDER");
  sub->add_option("--safetensors", options->safetensors,
                  "The weights, and all else that clade predict FILE DATA needs")
      ->option_text("FILE");
  sub->add_option("--onnx", options->onnx, "An ONNX model (opset 17)")
      ->option_text("FILE");
  sub->add_option("--torchscript", options->torchscript,
                  "A TorchScript module; this takes a build with LibTorch")
      ->option_text("FILE");
  sub->add_option("--csv", options->csv,
                  "All evaluations of the run, with metrics and hyperparameters. A note "
                  "or tag that a\n"
                  "spreadsheet would take for a formula has an apostrophe before it")
      ->option_text("FILE");
  sub->add_option(
         "--optuna", options->optuna,
         "The run as a study of Optuna's: a new SQLite file for its library and\n"
         "dashboard, optuna-dashboard sqlite:///FILE")
      ->option_text("FILE");
  sub->footer(
      "Networks take examples as the data file has them, without the target: what is "
      "done "
      "to\ncolumns, blanks and pixels is inside, fitted on the training data, which must "
      "still be\nthere. Values that the training data does not have are blanks. Weights "
      "are kept of the\nfittest few candidates of a run.\n"
      "  ONNX         Of numbers alone: \"input\", rows of doubles [N, columns] with NaN "
      "for blanks,\n"
      "               or images, floats in the sizes of their file. Of other tables an "
      "input [N] for\n"
      "               each column that is used, with its name: a number is a double, and "
      "a "
      "date\n"
      "               too, the days since 1970-01-01, all else a text without spaces "
      "around.\n"
      "               Outputs: \"class\" and \"probabilities\", or \"value\". Metadata: "
      "inputs,\n"
      "               columns, classes.\n"
      "  TorchScript  Of numbers alone a tensor of the same; of other tables "
      "List[List[str]],\n"
      "               rows of all columns as texts; of tables with sentences what encode "
      "of the\n"
      "               exported Python gives. Gives probabilities or values.\n"
      "  Python       predict(read_rows(\"new.csv\")), or predict(rows) of texts and "
      "numbers.\n"
      "Examples:\n"
      "  clade export digits --onnx digits.onnx         the model of the latest run\n"
      "  clade export digits 231 --python digits231     a candidate, to read and change\n"
      "  clade export digits --optuna digits.study");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto done = export_run(*options);
      return done ? 0 : report(done.error());
    };
  });
}

} // namespace clade
