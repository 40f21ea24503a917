#include "engine/export/run_history.hpp"
#include "engine/export/torch_work.hpp"
#include "engine/store/run_folder.hpp"
#include "engine/training/training_params.hpp"
#include "tools/command.hpp"
#include "tools/exported_run.hpp"
#include "tools/slots.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct predict_options {
  std::string trained; ///< A model's file, or a run.
  std::string genome, array;
  std::filesystem::path data, output;
};

template<class Number>
std::string shortest(Number v) {
  std::array<char, 32> digits{};
  return {digits.data(),
          std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr};
}

/// The likeliest class, then the probability of each.
std::string class_row(std::span<const float> logits,
                      const std::vector<std::string>& classes) {
  const auto most = std::ranges::max_element(logits);
  std::vector<double> parts;
  double sum = 0;
  for (const float l : logits)
    sum += parts.emplace_back(std::exp(static_cast<double>(l) - *most));
  std::string row = csv_field(classes[static_cast<std::size_t>(most - logits.begin())]);
  for (const double p : parts)
    row += "," + shortest(static_cast<float>(p / sum));
  return row + "\n";
}

std::string to_csv(std::span<const float> outputs, const preprocessing& how) {
  if (how.task == task_kind::regression) {
    std::string text = csv_field(how.target.empty() ? "value" : how.target) + "\n";
    for (const float v : outputs)
      text += shortest(v * how.target_deviation + how.target_mean) + "\n";
    return text;
  }
  std::string text = "class";
  for (const auto& name : how.classes)
    text += "," + csv_field("p(" + name + ")");
  text += "\n";
  const auto width = how.classes.size();
  for (std::size_t i = 0; i < outputs.size(); i += width)
    text += class_row(outputs.subspan(i, width), how.classes);
  return text;
}

expected<trained_network> find_network(const predict_options& options) {
  if (names_model(options.trained)) {
    if (!options.genome.empty())
      return fail(error_kind::invalid_input,
                  "--genome chooses among the candidates of a run, and " + options.trained
                      + " is a file; leave it out");
    return read_model(options.trained);
  }
  return find_store(options.trained)
      .and_then([&](const std::filesystem::path& file) {
        return find_trained(file, "--genome", options.genome);
      })
      .map([](trained_candidate&& found) { return std::move(found.trained); });
}

expected<std::string> predict(const predict_options& options) {
  const auto module = torch_export_path();
  if (auto found = find_training(module); !found)
    return tl::unexpected(found.error());
  const auto trained = find_network(options);
  if (!trained)
    return tl::unexpected(trained.error());
  const auto examples =
      read_new_examples(options.data, options.array, trained->reading, trained->how);
  if (!examples)
    return tl::unexpected(examples.error());
  return load_torch_work(module)
      .and_then([&](const std::unique_ptr<torch_work>& work) {
        return work->outputs(trained->network, trained->weights, examples->features);
      })
      .map([&](const std::vector<float>& outputs) {
        return to_csv(outputs, trained->how);
      });
}

int run_predict(const predict_options& options) {
  const auto text = predict(options);
  if (!text)
    return report(text.error());
  if (options.output.empty()) {
    std::cout << *text << std::flush;
    return std::cout ? 0 : report({error_kind::io, "cannot write to standard output"});
  }
  const auto written = write_file(options.output, *text);
  return written ? 0 : report(written.error());
}

} // namespace

void add_predict(CLI::App& app, command& chosen) {
  auto options = std::make_shared<predict_options>();
  auto* sub = app.add_subcommand("predict", "Use the champion on new data");
  sub->add_option("model", options->trained,
                  "A file that clade export RUN --safetensors FILE wrote, which stands "
                  "alone; or\na run: its folder, its name (for the latest of it), or its "
                  "store")
      ->required()
      ->option_text("MODEL|RUN");
  sub->add_option("data", options->data,
                  "Examples like those of the training data, with or without the target: "
                  "CSV,\n.npy, .npz, IDX or CIFAR, as they are or gzip")
      ->required()
      ->option_text("DATA");
  sub->add_option(
         "--genome", options->genome,
         "This candidate of the run, if its weights were kept, in the\nchampion's "
         "place")
      ->option_text("ID");
  sub->add_option("--array", options->array, "The array of a .npz; else data.array")
      ->option_text("NAME");
  sub->add_option("--output", options->output, "Instead of standard output")
      ->option_text("FILE.csv");
  sub->footer(
      "A line for each example, in their order: its class and the probability of each "
      "class,\nor its value in the target's own unit. Columns that have names in both "
      "files may come\nin another order.\n"
      "A MODEL has the network, its weights and all that examples are scaled by: neither "
      "the\nrun nor its data need be there. For a RUN the scales are fitted again, on "
      "the "
      "training\ndata, which must still be where it was, unchanged; the numbers are the "
      "same. Examples:\n"
      "  clade export digits --safetensors digits.safetensors\n"
      "  clade predict digits.safetensors new.csv --output predicted.csv\n"
      "  clade predict digits new.csv --genome 231");
  sub->callback(
      [&chosen, options] { chosen = [options] { return run_predict(*options); }; });
}

} // namespace clade
