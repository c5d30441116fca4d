// The list between two marks in docs/SOFTCUDA.md and docs/CUDA.md, word for word as the table of entry points
// gives it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "cuda-shim/api/entry/entry_points.hpp"

/// Names, each once, in the table's order; a name that lacks only old versions is not among them.
inline std::string unserved_names() {
  std::set<std::string> served;
  for (const auto& entry : fairgv::cuda::entry_points()) {
    if (entry.served) served.insert(entry.name);
  }
  std::string list;
  std::string last;
  for (const auto& entry : fairgv::cuda::entry_points()) {
    if (served.contains(entry.name) || entry.name == last) continue;
    last = entry.name;
    list += "`" + last + "`\n";
  }
  return list;
}

inline void expect_lists_unserved_names(const char* document) {
  const std::string begin_mark = "<!-- entry points that are not served: begin -->";
  std::ifstream file(document);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = text.find(begin_mark);
  const auto end = text.find("<!-- entry points that are not served: end -->");
  ASSERT_NE(std::string::npos, begin);
  ASSERT_NE(std::string::npos, end);
  const std::string expected = "\n" + unserved_names();
  const auto from = begin + begin_mark.size();
  EXPECT_EQ(expected, text.substr(from, end - from)) << "Put this between the two marks:" << expected;
}
