#include "cuda-shim/softcuda/translate/flow/flow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

namespace fairgv::softcuda {

// A set of registers.
class Bits {
 public:
  explicit Bits(std::size_t size) : words_((size + 63) / 64) {}
  void set(int index) { words_[word(index)] |= mask(index); }
  void clear(int index) { words_[word(index)] &= ~mask(index); }
  bool has(int index) const { return (words_[word(index)] & mask(index)) != 0; }
  void remove(const Bits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  // True if a bit is new.
  bool add(const Bits& other) {
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      changed |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return changed != 0;
  }
  std::vector<int> list() const {
    std::vector<int> all;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        all.push_back(static_cast<int>(i * 64) + std::countr_zero(rest));
      }
    }
    return all;
  }

 private:
  static std::size_t word(int index) { return static_cast<std::size_t>(index) / 64; }
  static std::uint64_t mask(int index) { return std::uint64_t{1} << (index % 64); }
  std::vector<std::uint64_t> words_;
};

namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool leaves(const FlatInstruction& i) {
  return i.name == "ret" || i.name == "exit" || i.name == "trap" || i.name == "brkpt" ||
         i.name == "call.__assertfail";
}

bool ends_block(const FlatInstruction& i) {
  return i.name == "bra" || i.name == "brx" || i.name == "call.enter" || i.name == "call.leave" || leaves(i);
}

void add_registers(const Argument& argument, std::vector<int>& into) {
  if (argument.kind == Argument::Kind::kRegister) into.push_back(argument.id);
  for (const Argument& part : argument.parts) add_registers(part, into);
}

bool has_result(const FlatInstruction& i) {
  constexpr std::array<std::string_view, 22> kWithout = {
      "st",      "red",           "bra",        "brx",   "ret",       "exit",          "trap",      "brkpt",
      "bar",     "barrier",       "membar",     "fence", "nanosleep", "prefetch",      "prefetchu", "pmevent",
      "discard", "applypriority", "setmaxnreg", "cp",    "sust",      "griddepcontrol"};
  if (i.name.starts_with("call.")) return i.name == "call.return";
  if (i.name == "bar" || i.name == "barrier") return i.has("red");
  if (i.name == "wmma") return !i.has("store");
  if (i.name == "yield" || i.name == "lockstep") return false;
  if (i.name == "mbarrier") return !i.has("init") && !i.has("inval");
  return !is_one_of(i.name, kWithout);
}

// The variable of .param or .local space that an access names, or -1.
int own_memory(const FlatKernel& kernel, const Argument& argument) {
  if (argument.kind == Argument::Kind::kAddress && !argument.parts.empty())
    return own_memory(kernel, argument.parts[0]);
  if (argument.kind != Argument::Kind::kMemory) return -1;
  const Memory::Space space = kernel.memories[static_cast<std::size_t>(argument.id)].space;
  return space == Memory::Space::kCallParam || space == Memory::Space::kLocal ? argument.id : -1;
}

bool names_thread(const Argument& argument) {
  if (argument.kind == Argument::Kind::kSpecial) {
    const std::string& name = argument.text;
    return name.starts_with("%tid") || name.starts_with("%lane") || name.starts_with("%warpid") ||
           name.starts_with("%clock") || name.starts_with("%globaltimer");
  }
  return std::any_of(argument.parts.begin(), argument.parts.end(), names_thread);
}

// Steps backwards over one instruction. A guarded instruction may leave its results unchanged.
void step_back(const FlatInstruction& instruction, Bits& live) {
  const RegisterUse use = registers_of(instruction);
  if (instruction.guard < 0) {
    for (const int id : use.writes) live.clear(id);
  }
  for (const int id : use.reads) live.set(id);
}

}  // namespace

bool is_synchronisation(const FlatInstruction& i) {
  if (i.name == "bar" || i.name == "barrier") return !i.has("arrive");
  if (i.name == "yield" || i.name == "lockstep") return true;
  if (i.name == "mbarrier") return i.has("test_wait") || i.has("try_wait");
  return i.name == "shfl" || i.name == "vote" || i.name == "match" || i.name == "redux" ||
         i.name == "activemask" || i.name == "elect" || i.name == "mma" || i.name == "ldmatrix" ||
         i.name == "movmatrix" || (i.name == "wmma" && i.has("mma"));
}

bool is_block_barrier(const FlatInstruction& i) {
  return (i.name == "bar" || i.name == "barrier") && i.has("sync") && !i.has("warp") &&
         i.arguments.size() == 1 && i.arguments[0].kind == Argument::Kind::kInteger;
}

bool brings_warp_together(const FlatInstruction& i) {
  return i.name == "lockstep" || (i.name == "bar" && i.has("warp") && i.has("sync"));
}

RegisterUse registers_of(const FlatInstruction& i) {
  RegisterUse use;
  if (i.guard >= 0) use.reads.push_back(i.guard);
  const bool result = !i.is_label() && has_result(i);
  for (std::size_t n = 0; n < i.arguments.size(); ++n)
    add_registers(i.arguments[n], n == 0 && result ? use.writes : use.reads);
  return use;
}

Flow::Flow(const FlatKernel& kernel) : kernel_(kernel) {
  find_blocks();
}

void Flow::find_blocks() {
  const auto& list = kernel_.instructions;
  std::vector<std::size_t> block_of_label(static_cast<std::size_t>(kernel_.labels), kNowhere);
  bool begins = true;
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (begins || list[n].is_label()) {
      if (!blocks_.empty()) blocks_.back().end = n;
      blocks_.push_back({n, list.size(), {}});
    }
    if (list[n].is_label()) block_of_label[static_cast<std::size_t>(list[n].label)] = blocks_.size() - 1;
    begins = !list[n].is_label() && ends_block(list[n]);
  }
  exit_ = blocks_.size();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    BasicBlock& block = blocks_[b];
    const FlatInstruction& last = list[block.end - 1];
    const auto jump = [&](int label) {
      const std::size_t to = block_of_label[static_cast<std::size_t>(label)];
      block.successors.push_back(to == kNowhere ? exit_ : to);
    };
    const bool jumps = !last.is_label() && ends_block(last);
    if (jumps) {
      for (const Argument& argument : last.arguments) {
        if (argument.kind == Argument::Kind::kLabel) jump(argument.id);
        if (argument.kind == Argument::Kind::kTargets) {
          for (const int label : kernel_.targets[static_cast<std::size_t>(argument.id)]) jump(label);
        }
      }
      // A register that is needed behind a call is needed before it, too, where it is saved, though a
      // function that is called again sets its registers anew.
      if (last.name == "call.enter") jump(kernel_.calls[static_cast<std::size_t>(last.call)].return_label);
      if (leaves(last) || block.successors.empty()) block.successors.push_back(exit_);
    }
    if (!jumps || last.guard >= 0) block.successors.push_back(b + 1);  // b + 1 may be exit_
  }
}

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph. kNowhere for a block
// from which the end cannot be reached.
std::vector<std::size_t> Flow::immediate_postdominators() const {
  std::vector<std::vector<std::size_t>> predecessors(exit_ + 1);
  for (std::size_t b = 0; b < exit_; ++b) {
    for (const std::size_t to : blocks_[b].successors) predecessors[to].push_back(b);
  }
  // Postorder of the reversed graph from the exit.
  std::vector<std::size_t> number(exit_ + 1, kNowhere);
  std::vector<std::size_t> order;
  std::vector<bool> seen(exit_ + 1);
  std::vector<std::pair<std::size_t, std::size_t>> stack = {{exit_, 0}};
  seen[exit_] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const std::size_t to = predecessors[node][next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      number[node] = order.size();
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<std::size_t> parent(exit_ + 1, kNowhere);
  parent[exit_] = exit_;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (*at == exit_) continue;
      std::size_t common = kNowhere;
      for (std::size_t to : blocks_[*at].successors) {
        if (parent[to] == kNowhere) continue;
        if (common == kNowhere) {
          common = to;
          continue;
        }
        while (to != common) {
          if (number[to] < number[common]) {
            to = parent[to];
          } else {
            common = parent[common];
          }
        }
      }
      if (common != kNowhere && parent[*at] != common) {
        parent[*at] = common;
        changed = true;
      }
    }
  }
  return parent;
}

// For every block: the blocks whose execution depends on the way that its last instruction takes.
std::vector<std::vector<std::size_t>> Flow::control_dependents() const {
  const std::vector<std::size_t> parent = immediate_postdominators();
  std::vector<std::vector<std::size_t>> dependents(exit_);
  for (std::size_t b = 0; b < exit_; ++b) {
    if (blocks_[b].successors.size() < 2) continue;
    for (std::size_t at : blocks_[b].successors) {
      while (at != exit_ && at != kNowhere && at != parent[b]) {
        dependents[b].push_back(at);
        at = parent[at];
      }
    }
  }
  return dependents;
}

// Whether the instruction's result can differ among the threads of a block. A plain load from one address
// gives all threads the same value: a program without data races cannot write there meanwhile.
bool Flow::makes_divergent(const FlatInstruction& i, const std::vector<bool>& divergent) const {
  if (i.name == "atom" || i.name.ends_with("malloc") || i.has("volatile") || i.has("relaxed") ||
      i.has("acquire"))
    return true;
  const RegisterUse use = registers_of(i);
  for (const int id : use.reads) {
    if (divergent[static_cast<std::size_t>(id)]) return true;
  }
  const bool names = i.name == "mov" || i.name == "cvta";
  for (const Argument& argument : i.arguments) {
    if (names_thread(argument)) return true;
    const int own = own_memory(kernel_, argument);
    if (own < 0) continue;
    // The address of a thread's own memory differs among threads; its contents are as divergent as the stored
    // values.
    if (names || divergent[kernel_.registers.size() + static_cast<std::size_t>(own)]) return true;
  }
  return false;
}

bool Flow::barriers_are_uniform() const {
  const auto parent = immediate_postdominators();
  if (std::find(parent.begin(), parent.end(), kNowhere) != parent.end()) return false;
  const auto dependents = control_dependents();
  // Registers, and after them each thread's own variables.
  std::vector<bool> divergent(kernel_.registers.size() + kernel_.memories.size());
  std::vector<bool> divergent_block(exit_);
  for (bool changed = true; changed;) {
    changed = false;
    const auto mark = [&](std::size_t index) {
      changed = changed || !divergent[index];
      divergent[index] = true;
    };
    for (std::size_t b = 0; b < exit_; ++b) {
      for (std::size_t n = blocks_[b].begin; n < blocks_[b].end; ++n) {
        const FlatInstruction& i = kernel_.instructions[n];
        if (i.is_label() || !(divergent_block[b] || makes_divergent(i, divergent))) continue;
        for (const int id : registers_of(i).writes) mark(static_cast<std::size_t>(id));
        if (i.name == "st" || i.name.starts_with("call.")) {
          for (const Argument& argument : i.arguments) {
            if (const int own = own_memory(kernel_, argument); own >= 0)
              mark(kernel_.registers.size() + static_cast<std::size_t>(own));
          }
        }
        if (n + 1 == blocks_[b].end && ends_block(i)) {
          for (const std::size_t dependent : dependents[b]) {
            changed = changed || !divergent_block[dependent];
            divergent_block[dependent] = true;
          }
        }
      }
    }
  }
  for (std::size_t b = 0; b < exit_; ++b) {
    for (std::size_t n = blocks_[b].begin; n < blocks_[b].end; ++n) {
      const FlatInstruction& i = kernel_.instructions[n];
      if (i.is_label() || !is_synchronisation(i)) continue;
      if (divergent_block[b] || (i.guard >= 0 && divergent[static_cast<std::size_t>(i.guard)])) return false;
    }
  }
  return true;
}

Bits Flow::live_at_end(std::size_t block, const std::vector<Bits>& live_at_begin) const {
  Bits live(kernel_.registers.size());
  for (const std::size_t to : blocks_[block].successors) live.add(live_at_begin[to]);
  return live;
}

std::vector<Bits> Flow::live_at_begin() const {
  const Bits none(kernel_.registers.size());
  std::vector<Bits> live(exit_ + 1, none);  // at first what each block itself reads
  std::vector<Bits> set(exit_, none);       // what it sets, whatever way is taken in it
  for (std::size_t b = 0; b < exit_; ++b) {
    for (std::size_t n = blocks_[b].end; n-- > blocks_[b].begin;) {
      const FlatInstruction& instruction = kernel_.instructions[n];
      step_back(instruction, live[b]);
      if (instruction.guard >= 0) continue;
      for (const int id : registers_of(instruction).writes) set[b].set(id);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = exit_; b-- > 0;) {
      Bits passed = live_at_end(b, live);
      passed.remove(set[b]);
      changed = live[b].add(passed) || changed;
    }
  }
  return live;
}

std::uint32_t Flow::most_registers() const {
  const auto size = [this](int id) {
    const unsigned bits = kernel_.registers[static_cast<std::size_t>(id)].bits;
    return bits == 1 ? 0 : (bits + 31) / 32;
  };
  const std::vector<Bits> live_in = live_at_begin();
  std::uint32_t most = 0;
  for (std::size_t b = 0; b < exit_; ++b) {
    Bits live = live_at_end(b, live_in);
    std::uint32_t now = 0;
    for (const int id : live.list()) now += size(id);
    most = std::max(most, now);
    for (std::size_t n = blocks_[b].end; n-- > blocks_[b].begin;) {
      const FlatInstruction& instruction = kernel_.instructions[n];
      const RegisterUse use = registers_of(instruction);
      for (const int id : use.writes) {
        if (instruction.guard >= 0 || !live.has(id)) continue;
        live.clear(id);
        now -= size(id);
      }
      for (const int id : use.reads) {
        if (live.has(id)) continue;
        live.set(id);
        now += size(id);
      }
      most = std::max(most, now);
    }
  }
  return most;
}

std::vector<std::vector<int>> Flow::live_after(const std::vector<std::size_t>& points) const {
  const std::vector<Bits> live_in = live_at_begin();
  std::vector<std::vector<int>> result(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto block =
        std::upper_bound(blocks_.begin(), blocks_.end(), points[p],
                         [](std::size_t point, const BasicBlock& each) { return point < each.begin; });
    const auto b = static_cast<std::size_t>(block - blocks_.begin()) - 1;
    Bits live = live_at_end(b, live_in);
    for (std::size_t n = blocks_[b].end; n-- > points[p] + 1;) step_back(kernel_.instructions[n], live);
    for (const int id : registers_of(kernel_.instructions[points[p]]).writes) live.clear(id);
    result[p] = live.list();
  }
  return result;
}

}  // namespace fairgv::softcuda
