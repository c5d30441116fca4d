#include "tests/moves/storm/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/harness/tenancy.hpp"
#include "tests/moves/storm/patience.hpp"

namespace fairgv::integration::storm {

void Orders::give(std::vector<std::string> words) {
  if (under_way_.size() >= kMost) return;
  std::string command = words.front();
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  log_.add(text);
  std::vector<std::string> all{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv")};
  for (std::string& word : words) all.push_back(std::move(word));
  all.insert(all.end(), {"--socket", socket_()});
  auto child = harness::Child::start({std::move(all), {}});
  ASSERT_TRUE(child);
  under_way_.push_back({std::move(command), std::move(text), std::move(child).value(), {}});
}

bool Orders::take_end(Order& order) {
  for (std::string& line : order.child.read_lines()) order.lines.push_back(std::move(line));
  if (!order.child.ended()) return false;
  const int status = order.child.wait();
  log_.add(order.words + "has ended: " + (order.lines.empty() ? "" : order.lines.back()));
  if (status == 0) {
    ++done_[order.command];
    return true;
  }
  EXPECT_EQ(status, 1) << order.command << ": " << (order.lines.empty() ? "" : order.lines.back());
  std::string line = order.lines.empty() ? order.command + ": no line" : order.lines.back();
  std::erase_if(line, [](char each) { return each >= '0' && each <= '9'; });
  ++refusals_[line];
  return true;
}

void Orders::look_after() {
  std::vector<Order> left;
  for (Order& order : under_way_) {
    if (!take_end(order)) left.push_back(std::move(order));
  }
  under_way_.clear();
  for (Order& order : left) under_way_.push_back(std::move(order));
}

void Orders::wait() {
  EXPECT_TRUE(comes_true([&] {
    look_after();
    return under_way_.empty();
  })) << "fairgv "
      << under_way_.front().command << " does not end";
}

std::uint64_t Orders::done(const std::string& command) const {
  const auto found = done_.find(command);
  return found == done_.end() ? 0 : found->second;
}

void Orders::print(std::ostream& out) const {
  for (const auto& [command, count] : done_) out << count << " times: fairgv " << command << '\n';
  for (const auto& [line, count] : refusals_) out << count << " times: " << line << '\n';
}

}  // namespace fairgv::integration::storm
