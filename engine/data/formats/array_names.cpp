#include "engine/data/formats/array_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace clade {
namespace {

constexpr std::array<std::string_view, 13> example_names{
    "xtrain",        "trainx",    "trainimages", "imagestrain", "traindata",
    "trainfeatures", "trainingx", "x",           "data",        "images",
    "features",      "inputs",    "arr0"};
constexpr std::array<std::string_view, 13> target_names{
    "ytrain",      "trainy",    "trainlabels", "labelstrain", "traintargets",
    "traintarget", "trainingy", "y",           "labels",      "label",
    "targets",     "target",    "arr1"};
constexpr std::array<std::string_view, 6> test_example_names{
    "xtest", "testx", "testimages", "imagestest", "testdata", "testfeatures"};
constexpr std::array<std::string_view, 6> test_target_names{
    "ytest", "testy", "testlabels", "labelstest", "testtargets", "testtarget"};

/// "xtrain" of "X_train".
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (c != '_' && c != '-' && c != '.' && c != ' ')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// Takes out of `names` the one that stands first in `known`.
template<std::size_t count>
std::string take(std::vector<std::string>& names,
                 const std::array<std::string_view, count>& known) {
  for (const std::string_view word : known)
    if (const auto at = std::ranges::find(names, word, plain); at != names.end()) {
      std::string found = std::move(*at);
      names.erase(at);
      return found;
    }
  return {};
}

} // namespace

named_arrays arrays_by_name(std::span<const std::string> names) {
  named_arrays out;
  out.others.assign(names.begin(), names.end());
  out.examples = take(out.others, example_names);
  out.targets = take(out.others, target_names);
  auto without_test = out.others;
  out.test_examples = take(without_test, test_example_names);
  out.test_targets = take(without_test, test_target_names);
  if (out.test_examples.empty() || out.test_targets.empty())
    out.test_examples.clear(), out.test_targets.clear();
  else
    out.others = std::move(without_test);
  return out;
}

} // namespace clade
