// form   := task layout scales checksum{2} examples
//           shape labels targets weights train validation test numbers classes
//           by_line parts_by_chance test_places test_names robust columns type divisor preparation steps
//           (shape, labels, targets, weights, train, validation, test, numbers,
//           test_places: lists of numbers; classes, test_names, robust: lists of texts;
//           columns: a list of column; preparation: text)
// scales := a list of a mean, a deviation and a quantile each
// column := text inputs
// steps  := ahead offset scale naive drawn*     (lists of numbers, and a list; without
//           examples of a forecast all are empty)
// drawn  := series from origin to past first count
// list   := length item*
// text   := length byte*
//
// Numbers are as they are in memory: task, layout, examples, truths, inputs, type and
// length are u64, and the divisor is f32. Type and divisor are those of the features.
//
// A length is checked against the bytes that are left before anything is taken for it.

#include "engine/data/reading/cached_form.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace clade {
namespace {

struct writer {
  std::string out;

  template<class T>
  void number(T v) {
    static_assert(std::is_arithmetic_v<T>);
    out.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  template<class T>
  void list(const std::vector<T>& v) {
    number(std::uint64_t{v.size()});
    out.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
  }
  void text(const std::string& v) {
    number(std::uint64_t{v.size()});
    out += v;
  }
  void texts(const std::vector<std::string>& all) {
    number(std::uint64_t{all.size()});
    for (const std::string& v : all)
      text(v);
  }
};

struct reader {
  std::string_view left;
  bool bad = false;

  std::string_view take(std::uint64_t length, std::size_t size) {
    bad = bad || length > left.size() / size;
    if (bad)
      return {};
    const std::string_view taken = left.substr(0, length * size);
    left.remove_prefix(taken.size());
    return taken;
  }
  template<class T>
  T number() {
    T v{};
    if (const auto bytes = take(1, sizeof v); !bytes.empty())
      std::memcpy(&v, bytes.data(), sizeof v);
    return v;
  }
  template<class T>
  void list(std::vector<T>& v) {
    const auto bytes = take(number<std::uint64_t>(), sizeof(T));
    v.resize(bytes.size() / sizeof(T));
    if (!bytes.empty())
      std::memcpy(v.data(), bytes.data(), bytes.size());
  }
  std::string text() { return std::string(take(number<std::uint64_t>(), 1)); }
  void texts(std::vector<std::string>& all) {
    for (auto left_over = number<std::uint64_t>(); left_over > 0 && !bad; --left_over)
      all.push_back(text());
  }
};

void write(writer& w, const forecast_steps& steps) {
  w.list(steps.ahead);
  w.list(steps.offset);
  w.list(steps.scale);
  w.list(steps.naive);
  w.number(std::uint64_t{steps.drawn.size()});
  for (const auto& one : steps.drawn) {
    w.texts(one.series);
    for (const auto* time : {&one.from, &one.origin, &one.to})
      w.text(*time);
    w.list(one.past);
    w.number(std::uint64_t{one.first});
    w.number(std::uint64_t{one.count});
  }
}

forecast_steps read_steps(reader& r) {
  forecast_steps steps;
  r.list(steps.ahead);
  r.list(steps.offset);
  r.list(steps.scale);
  r.list(steps.naive);
  for (auto drawn = r.number<std::uint64_t>(); drawn > 0 && !r.bad; --drawn) {
    auto& one = steps.drawn.emplace_back();
    r.texts(one.series);
    for (auto* time : {&one.from, &one.origin, &one.to})
      *time = r.text();
    r.list(one.past);
    const auto first = r.number<std::uint64_t>(), count = r.number<std::uint64_t>();
    const auto all = steps.ahead.size();
    r.bad = r.bad || count == 0 || first > all || count > all - first;
    one.first = static_cast<std::uint32_t>(first);
    one.count = static_cast<std::uint32_t>(count);
  }
  return steps;
}

/// Whether there is one of all for each of so many examples.
bool are_of(const forecast_steps& steps, std::size_t examples) {
  return steps.ahead.size() == examples && steps.offset.size() == examples
         && steps.scale.size() == examples && steps.naive.size() == examples;
}

bool scales_fit(const data_set& data) {
  const std::size_t scales = data.target_scales.size();
  return scales > 0
         && (scales == data.classes.size()
             || (scales == 1 && !data.task.has_quantiles()));
}

} // namespace

std::string cached_form(const data_set& data) {
  writer w;
  w.number(std::uint64_t{place_of(data.task)});
  w.number(static_cast<std::uint64_t>(data.layout));
  w.list(data.target_scales);
  w.number(data.checksum.high);
  w.number(data.checksum.low);
  w.number(std::uint64_t{data.examples});
  w.list(data.shape.sizes);
  w.list(data.labels);
  w.list(data.targets);
  w.list(data.weights);
  w.list(data.train);
  w.list(data.validation);
  w.list(data.test);
  w.list(std::vector<std::uint8_t>(data.numbers.begin(), data.numbers.end()));
  w.texts(data.classes);
  w.number(std::uint64_t{data.by_line});
  w.number(std::uint64_t{data.parts_by_chance});
  w.list(data.test_places);
  w.texts(data.test_names);
  w.texts(data.robust);
  w.number(std::uint64_t{data.columns.size()});
  for (const input_column& c : data.columns) {
    w.text(c.name);
    w.number(std::uint64_t{c.inputs});
  }
  w.number(static_cast<std::uint64_t>(data.features.type()));
  w.number(data.features.divisor());
  w.text(data.preparation);
  write(w, data.steps ? *data.steps : forecast_steps());
  return std::move(w.out);
}

std::optional<data_set> parse_cached_form(std::string_view bytes) {
  reader r{bytes};
  data_set data;
  const auto task = r.number<std::uint64_t>();
  if (task < learning_tasks.size())
    data.task = learning_tasks[task];
  const auto layout = r.number<std::uint64_t>();
  data.layout = static_cast<array_layout>(layout);
  r.list(data.target_scales);
  data.checksum.high = r.number<std::uint64_t>();
  data.checksum.low = r.number<std::uint64_t>();
  data.examples = r.number<std::uint64_t>();
  r.list(data.shape.sizes);
  r.list(data.labels);
  r.list(data.targets);
  r.list(data.weights);
  r.list(data.train);
  r.list(data.validation);
  r.list(data.test);
  std::vector<std::uint8_t> numbers; // 0 or 1
  r.list(numbers);
  data.numbers.assign(numbers.begin(), numbers.end());
  r.texts(data.classes);
  const auto by_line = r.number<std::uint64_t>();
  data.by_line = by_line == 1;
  const auto by_chance = r.number<std::uint64_t>();
  data.parts_by_chance = by_chance == 1;
  r.list(data.test_places);
  r.texts(data.test_names);
  r.texts(data.robust);
  for (auto columns = r.number<std::uint64_t>(); columns > 0 && !r.bad; --columns) {
    auto name = r.text();
    data.columns.push_back({std::move(name), r.number<std::uint64_t>()});
  }
  const auto type = r.number<std::uint64_t>();
  const auto divisor = r.number<float>();
  data.preparation = r.text();
  auto steps = read_steps(r);
  const bool stepped = data.examples > 0 && are_of(steps, data.examples);
  const bool whole_steps = stepped || steps == forecast_steps();
  if (stepped)
    data.steps = std::make_shared<const forecast_steps>(std::move(steps));
  const bool form = type <= static_cast<std::uint64_t>(stored_type::uint8) && divisor > 0;
  data.features = {static_cast<stored_type>(form ? type : 0), divisor};
  const bool truths =
      std::all_of(numbers.begin(), numbers.end(), [](auto v) { return v <= 1; });
  const bool weighed = data.weights.empty() || data.weights.size() == data.examples;
  if (r.bad || !r.left.empty() || !weighed || !scales_fit(data) || !truths || !form
      || !whole_steps || by_line > 1 || by_chance > 1
      || data.test_places.size() != data.test.size()
      || (!data.test_names.empty() && data.test_names.size() != data.test.size())
      || task >= learning_tasks.size()
      || layout > static_cast<std::uint64_t>(array_layout::channels_last))
    return std::nullopt;
  return data;
}

} // namespace clade
