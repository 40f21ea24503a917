// The answers of a model are gathered in one tensor for all examples, [examples, outputs],
// of which the rows of the validation and the test part are filled. The final model is then
// measured as a model whose features are its answers.
#include "engine/training/composing.hpp"

#include "engine/training/assessment.hpp"
#include "engine/training/boosted_trees.hpp"
#include "engine/training/data_folds.hpp"
#include "engine/training/ensemble_selection.hpp"
#include "engine/training/examining.hpp"
#include "engine/training/failure.hpp"
#include "engine/training/linear_model.hpp"
#include "engine/training/network_module.hpp"
#include "search_spaces/mixture.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

constexpr std::int64_t few_validation_examples = 1'000;

/// Models of one genome, one or one for each fold; or the linear model, or boosted trees.
struct model_bag {
  std::vector<const trained_member*> members{}; ///< None: it is no genome's.
  std::optional<tree_sizes> trees{};            ///< Of boosted trees.
  std::vector<weight_tensor> weights{};         ///< Of what is no genome's.
  at::Tensor said; ///< Probabilities or standardised values, [examples, outputs].
  std::uint64_t parameters = 0;
  double temperature = 1; ///< By which the scores of each member are divided.
};

class composer {
public:
  composer(training_context& context, std::uint64_t seed)
      : context_(context),
        data_(context.data()),
        seed_(seed),
        outputs_(context.problem().outputs) {}

  void add(const std::vector<const trained_member*>& members);
  /// Networks that the search chose by the validation part, epoch by epoch and among many,
  /// look better on it than they are. Where it is small, that is more than what tells
  /// models apart, and those that were trained without the examples that judge them are
  /// enough.
  [[nodiscard]] bool judges_folds_only() const {
    return folds_ > 1 && !bags_.empty()
           && data_.validation.size(0) < few_validation_examples;
  }
  void add_linear_model(const budget& b);
  void add_boosted_trees(steady_clock::time_point deadline);
  [[nodiscard]] expected<composition> compose();

private:
  using networks = std::vector<std::unique_ptr<network_module>>;

  [[nodiscard]] at::Tensor answer(const model& predict, const at::Tensor& part) const;
  [[nodiscard]] expected<networks>
  load(const std::vector<const trained_member*>& members) const;
  [[nodiscard]] at::Tensor empty_answers() const {
    return at::zeros({data_.features.size(0), outputs_}, data_.features.options());
  }
  [[nodiscard]] validation_answers judged(const at::Tensor& said) const;
  [[nodiscard]] double temperature_of(const at::Tensor& said) const;
  /// What a model says whose scores are divided by a temperature.
  [[nodiscard]] at::Tensor at_temperature(const at::Tensor& said, double t) const {
    return data_.task.has_classes() ? at::softmax(at::clamp_min(said, 1e-12).log() / t, 1)
                                    : said;
  }
  [[nodiscard]] at::Tensor answer_of_trees(const fitted_trees& fitted,
                                           const at::Tensor& part) const;
  [[nodiscard]] examination examined(const at::Tensor& said, std::string subject,
                                     std::uint64_t parameters,
                                     double temperature = 1) const;

  training_context& context_;
  const device_data& data_;
  std::uint64_t seed_;
  std::int64_t outputs_;
  std::vector<model_bag> bags_;
  std::uint32_t folds_ = 1; ///< The most of any genome.
  std::optional<examination> linear_, trees_;
  std::vector<std::string> left_out_;
};

at::Tensor composer::answer(const model& predict, const at::Tensor& part) const {
  const auto out = outputs_of(predict, data_, part);
  return data_.task.has_classes() ? at::softmax(out, 1) : out;
}

expected<composer::networks>
composer::load(const std::vector<const trained_member*>& members) const {
  networks loaded;
  for (const auto* m : members) {
    auto net = load_candidate(context_, m->genome, m->weights);
    if (!net)
      return fail(net.error().kind,
                  "#" + std::to_string(m->id) + ": " + net.error().message);
    loaded.push_back(std::move(*net));
  }
  const auto folds = members.front()->fold.of;
  if (folds > 1 && members.size() != folds)
    return fail(error_kind::not_found,
                "#" + std::to_string(members.front()->id)
                    + ": not all folds of its genome were trained");
  return loaded;
}

void composer::add(const std::vector<const trained_member*>& members) {
  auto nets = load(members);
  if (!nets) {
    left_out_.push_back(nets.error().message);
    return;
  }
  folds_ = std::max(folds_, members.front()->fold.of);
  model_bag bag{.members = members, .said = empty_answers()};
  std::vector<at::Tensor> tested;
  for (std::size_t i = 0; i < nets->size(); ++i) {
    auto& net = *(*nets)[i];
    net.eval();
    for (const auto& s : net.state())
      bag.parameters += static_cast<std::uint64_t>(s.tensor.numel());
    const model predict = [&net](const at::Tensor& x) { return net.forward(x); };
    const auto judged_by_it = data_of_fold(data_, members[i]->fold, seed_).validation;
    bag.said.index_copy_(0, judged_by_it, answer(predict, judged_by_it));
    tested.push_back(answer(predict, data_.test));
  }
  // A network that was trained for long is too sure, and would be left out for that alone.
  bag.temperature = temperature_of(bag.said);
  bag.said = at_temperature(bag.said, bag.temperature);
  for (auto& said : tested)
    said = at_temperature(said, bag.temperature);
  bag.said.index_copy_(0, data_.test, at::stack(tested).mean(0));
  if (!at::isfinite(bag.said).all().item<bool>())
    left_out_.push_back("#" + std::to_string(members.front()->id)
                        + ": it says what is no finite number");
  else
    bags_.push_back(std::move(bag));
}

// It may take a third of the time that there is for all of it.
void composer::add_linear_model(const budget& b) {
  auto third = b;
  third.time /= 3;
  auto fitted =
      fit_linear_model(data_, outputs_, deadline_of(third), context_.asked().validation);
  if (!fitted)
    return left_out_.push_back(fitted.error().message);
  const model predict = [&](const at::Tensor& x) { return fitted->predict(x); };
  model_bag bag{.weights = fitted->weights(),
                .said = empty_answers(),
                .parameters = fitted->tested.parameters};
  for (const auto& part : {data_.validation, data_.test})
    bag.said.index_copy_(0, part, answer(predict, part));
  linear_ = std::move(fitted->tested);
  bags_.push_back(std::move(bag));
}

at::Tensor composer::answer_of_trees(const fitted_trees& fitted,
                                     const at::Tensor& part) const {
  network_module net(tree_network(context_.problem(), fitted.sizes), {},
                     data_.features.device());
  const auto loaded = net.load(fitted.weights);
  TORCH_CHECK(loaded.has_value(), loaded.error().message);
  return answer([&net](const at::Tensor& x) { return net.forward(x); }, part);
}

// They may take half of the time that is left.
void composer::add_boosted_trees(steady_clock::time_point deadline) {
  if (data_.features.dim() != 2)
    return;
  const auto now = steady_clock::now();
  if (deadline != steady_clock::time_point::max())
    deadline = now + (deadline - now) / 2;
  auto fitted =
      fit_boosted_trees(data_, {.folds = folds_, .seed = seed_, .deadline = deadline});
  if (!fitted)
    return left_out_.push_back(fitted.error().message);
  model_bag bag{.trees = fitted->whole.sizes, .said = empty_answers()};
  const auto folds = static_cast<std::uint32_t>(fitted->folds.size());
  for (std::uint32_t i = 0; i < folds; ++i) {
    const auto part = data_of_fold(data_, {i, folds}, seed_).validation;
    bag.said.index_copy_(0, part, answer_of_trees(fitted->folds[i], part));
  }
  bag.said.index_copy_(0, data_.test, answer_of_trees(fitted->whole, data_.test));
  for (const auto& w : fitted->whole.weights)
    bag.parameters += w.values.size();
  bag.weights = std::move(fitted->whole.weights);
  trees_ = examined(bag.said, "boosted trees", bag.parameters);
  bags_.push_back(std::move(bag));
}

validation_answers composer::judged(const at::Tensor& said) const {
  const auto targets = data_.targets.index_select(0, data_.validation);
  const auto rows = said.index_select(0, data_.validation);
  const auto answers =
      (data_.task.has_classes() ? rows.gather(1, targets.unsqueeze(1)).squeeze(1)
                                : (rows - targets).flatten())
          .to(at::kDouble)
          .cpu()
          .contiguous();
  const auto* first = answers.const_data_ptr<double>();
  return {first, first + answers.numel()};
}

double composer::temperature_of(const at::Tensor& said) const {
  if (!data_.task.has_classes())
    return 1;
  const auto rows = said.index_select(0, data_.validation).cpu().contiguous();
  const auto labels = data_.targets.index_select(0, data_.validation).cpu().contiguous();
  return fit_temperature(
      {rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.numel())},
      {labels.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(labels.numel())});
}

// Measures what is said of the test and the validation part.
examination composer::examined(const at::Tensor& said, std::string subject,
                               std::uint64_t parameters, double temperature) const {
  auto measured = data_;
  measured.features =
      data_.task.has_classes() ? at::clamp_min(said, 1e-12).log() / temperature : said;
  const model as_it_says = [](const at::Tensor& x) { return x; };
  const auto& asked = context_.asked().validation;
  examination out{.subject = std::move(subject), .parameters = parameters};
  out.metrics = assess(as_it_says, measured, data_.test, "test.", asked);
  const auto validation =
      assess(as_it_says, measured, data_.validation, "validation.", asked);
  out.metrics.insert(out.metrics.end(), validation.begin(), validation.end());
  out.details = std::make_shared<const test_details>(
      details_of(as_it_says, measured, of_epochs(context_.setup().goal).metric,
                 context_.setup().seed));
  return out;
}

expected<composition> composer::compose() {
  std::vector<validation_answers> answers;
  for (const auto& bag : bags_)
    answers.push_back(judged(bag.said));
  const auto counts = select_ensemble(answers, data_.task.loss);
  double total = 0;
  for (const auto c : counts)
    total += c;
  if (total == 0)
    return fail(error_kind::internal, "no model says anything of the validation part");
  composition out;
  out.linear = std::move(linear_);
  out.trees = std::move(trees_);
  auto said = empty_answers();
  std::uint64_t parameters = 0;
  std::vector<weight_tensor> fitted;
  for (std::size_t i = 0; i < bags_.size(); ++i) {
    if (counts[i] == 0)
      continue;
    const auto& bag = bags_[i];
    const double share = counts[i] / total;
    said += bag.said * share;
    parameters += bag.parameters;
    if (bag.members.empty())
      out.model.members.push_back({.id = 0, .share = share, .trees = bag.trees});
    fitted.insert(fitted.end(), bag.weights.begin(), bag.weights.end());
    for (const auto* m : bag.members)
      out.model.members.push_back(
          {.id = m->id,
           .share = share / static_cast<double>(bag.members.size()),
           .temperature = bag.temperature});
  }
  if (!fitted.empty())
    out.fitted_weights = encode_weights(fitted);
  out.model.temperature = temperature_of(said);
  out.model.left_out = std::move(left_out_);
  out.tested = examined(said, "final model", parameters, out.model.temperature);
  std::ranges::copy_if(out.tested.metrics, std::back_inserter(out.model.metrics),
                       [](const metric& m) { return m.name.starts_with("validation."); });
  return out;
}

} // namespace

expected<composition> compose_final_model(training_context& context,
                                          std::span<const trained_member> members,
                                          std::uint64_t seed, const budget& b) {
  try {
    const auto deadline = deadline_of(b);
    context.prepare_thread();
    if (auto loaded = context.load(); !loaded)
      return tl::unexpected(loaded.error());
    // Those with folds come first.
    std::map<std::pair<bool, candidate_id>, std::vector<const trained_member*>> bags;
    for (const auto& m : members)
      bags[{m.fold.of < 2, m.bag}].push_back(&m);
    composer c(context, seed);
    for (const auto& [which, bag] : bags)
      if (!which.first || !c.judges_folds_only())
        c.add(bag);
    c.add_linear_model(b);
    c.add_boosted_trees(deadline);
    return c.compose();
  } catch (...) {
    return fail(error_kind::io, "the final model: " + failure_of_exception().reason);
  }
}

} // namespace clade
