#include "runtime/base/near_word.hpp"

#include <algorithm>
#include <numeric>

namespace fairgv {
namespace {

/// How many letters have to be put in, taken out, exchanged, or swapped with their neighbours, to make one
/// word of the other (the optimal string alignment distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchanged = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({exchanged, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

}  // namespace

std::string near_word(std::string_view mistyped, const std::vector<std::string>& known) {
  const auto steps = [&](const std::string& word) {
    return mistyped.size() >= 3 && word.starts_with(mistyped) ? 0 : distance(mistyped, word);
  };
  const auto nearest = std::min_element(known.begin(), known.end(),
                                        [&](const auto& a, const auto& b) { return steps(a) < steps(b); });
  if (nearest == known.end()) return "";
  const std::size_t allowed = std::max<std::size_t>(1, mistyped.size() / 3);
  // Of two letters every word of two letters would be near.
  return mistyped.size() < 2 || steps(*nearest) > allowed ? "" : *nearest;
}

std::string did_you_mean(std::string_view mistyped, const std::vector<std::string>& known) {
  const std::string word = near_word(mistyped, known);
  return word.empty() ? "" : "did you mean '" + word + "'? ";
}

std::string guess_and_list(std::string_view mistyped, const std::string& list) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::string> known;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(kBetween, begin), list.size());
    known.push_back(list.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return did_you_mean(mistyped, known) + "there are " + list;
}

}  // namespace fairgv
