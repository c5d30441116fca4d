#include "slicing/ptx_slicing/call_graph.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace fairgv::slicing::ptx {
namespace {

constexpr std::size_t kLongestPhrase = 400;  // a chain of calls may be long

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Functions of the device's system (CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory
// Allocation", "Assertion"): none depends on the grid.
bool is_system_call(std::string_view name) {
  constexpr std::array<std::string_view, 4> kCalls = {"vprintf", "malloc", "free", "__assertfail"};
  return std::find(kCalls.begin(), kCalls.end(), name) != kCalls.end();
}

// The obstacle of a call to a function without a body.
std::string obstacle_elsewhere(const std::string& name) {
  if (name.starts_with("cudaCG")) return "synchronises the whole grid (" + name + ")";
  if (name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
      name.starts_with("__cudaCDP") || name.starts_with("cnp")) {
    return "launches kernels itself (" + name + ")";
  }
  return "calls " + name + ", whose body is not in the module";
}

}  // namespace

CallGraph::CallGraph(const Module& module, bool linked) {
  add_functions(module, linked);
  resolve_calls();
  std::vector<bool> taken(nodes_.size(), false);
  mark_addresses(module, taken);
  add_reads();
  add_obstacles(taken, linked);
}

const Node* CallGraph::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[found->second];
}

std::size_t CallGraph::node(const std::string& name) {
  const auto [at, added] = by_name_.emplace(name, nodes_.size());
  if (added) {
    nodes_.emplace_back();
    names_.push_back(name);
  }
  return at->second;
}

void CallGraph::add_functions(const Module& module, bool linked) {
  for (const auto& item : module.items) {
    const Function* function = std::get_if<Function>(&item);
    if (function == nullptr) continue;
    Node& added = nodes_[node(function->name)];
    added.entry = function->entry;
    const bool seen_elsewhere = has_word(function->linkage, "visible") ||
                                has_word(function->linkage, "weak") || has_word(function->linkage, "extern");
    if (linked && !function->entry && seen_elsewhere) added.keeps = true;
    if (!function->body) continue;
    if (added.definition != nullptr && duplicate_ == nullptr) duplicate_ = function;
    added.definition = function;
    added.facts = facts_of(*function);
  }
}

// A callee that is not a function's name is a register.
void CallGraph::resolve_calls() {
  for (Node& each : nodes_) {
    for (const std::string& name : each.facts.callees) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) {
        each.calls_pointers = true;
      } else {
        each.calls.push_back(found->second);
      }
    }
  }
}

void CallGraph::mark_addresses(const Module& module, std::vector<bool>& taken) {
  std::set<std::string> names;
  for (const auto& item : module.items) {
    if (const auto* variable = std::get_if<ModuleVariable>(&item)) {
      if (variable->variable.initial) add_names(*variable->variable.initial, names);
    } else if (const auto* directive = std::get_if<ModuleDirective>(&item)) {
      // .alias a, f: a call of a is a call of f.
      const std::vector<std::string>& words = directive->directive.words;
      if (directive->directive.name != "alias" || words.size() < 3) continue;
      const auto alias = by_name_.find(words[0]);
      const auto aliased = by_name_.find(words[2]);
      if (alias == by_name_.end() || aliased == by_name_.end()) continue;
      nodes_[alias->second].calls.push_back(aliased->second);
      nodes_[alias->second].keeps = true;
      nodes_[aliased->second].keeps = true;
    }
  }
  for (const Node& each : nodes_) names.insert(each.facts.addresses.begin(), each.facts.addresses.end());
  for (const std::string& name : names) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    taken[found->second] = true;
    nodes_[found->second].keeps = true;
  }
}

void CallGraph::add_reads() {
  for (Node& each : nodes_) each.reads = each.facts.reads;
  for (bool changed = true; changed;) {
    changed = false;
    for (Node& each : nodes_) {
      GridValues reads = each.reads;
      for (const std::size_t callee : each.calls)
        reads = static_cast<GridValues>(reads | nodes_[callee].reads);
      changed = changed || reads != each.reads;
      each.reads = reads;
    }
  }
}

std::string CallGraph::obstacle_of_call(const Node& caller, std::size_t callee) const {
  const Node& called = nodes_[callee];
  const std::string& name = names_[callee];
  if (called.obstacle.size() > kLongestPhrase) return "calls " + name + ", which must run whole";
  if (!called.obstacle.empty()) return "calls " + name + ", which " + called.obstacle;
  const bool has_code = called.definition != nullptr || !called.calls.empty();
  if (!has_code && !is_system_call(name)) return obstacle_elsewhere(name);
  // A function that calls itself is no obstacle: its callers from outside meet this check, too.
  if (called.keeps && called.reads != 0 && &called != &caller) {
    return "calls " + name + ", which depends on %ctaid or %nctaid and must keep its parameters";
  }
  return {};
}

// A call through a register may reach every function whose address is taken.
std::string CallGraph::obstacle_of_pointers(const std::vector<bool>& taken, bool linked) const {
  if (linked) return "calls a function through its address, which may be another module's";
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& each = nodes_[i];
    if (!taken[i] || each.entry) continue;
    const std::string reached = "calls functions through their addresses, so maybe " + names_[i] + ", ";
    if (!each.obstacle.empty()) return reached + "which " + each.obstacle;
    if (each.definition == nullptr && !is_system_call(names_[i])) {
      return reached + "whose body is not in the module";
    }
    if (each.reads != 0) return reached + "which depends on %ctaid or %nctaid";
  }
  return {};
}

void CallGraph::add_obstacles(const std::vector<bool>& taken, bool linked) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& each = nodes_[i];
    each.obstacle = each.facts.obstacle;
    if (each.entry && taken[i] && each.reads != 0 && each.obstacle.empty()) {
      each.obstacle = "may be launched by device code: its address is taken";
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    const std::string pointers = obstacle_of_pointers(taken, linked);
    for (Node& each : nodes_) {
      for (std::size_t i = 0; i < each.calls.size() && each.obstacle.empty(); ++i) {
        each.obstacle = obstacle_of_call(each, each.calls[i]);
        changed = changed || !each.obstacle.empty();
      }
      if (each.calls_pointers && each.obstacle.empty() && !pointers.empty()) {
        each.obstacle = pointers;
        changed = true;
      }
    }
  }
}

void CallGraph::refuse_entry(const std::string& name, std::string obstacle) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end() && nodes_[found->second].obstacle.empty()) {
    nodes_[found->second].obstacle = std::move(obstacle);
  }
}

void CallGraph::finish() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].called_from_sliced = nodes_[i].entry && nodes_[i].obstacle.empty();
    if (nodes_[i].called_from_sliced) open.push_back(i);
  }
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t callee : nodes_[at].calls) {
      if (nodes_[callee].called_from_sliced) continue;
      nodes_[callee].called_from_sliced = true;
      open.push_back(callee);
    }
  }
}

}  // namespace fairgv::slicing::ptx
