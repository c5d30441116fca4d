// [session], [worker], [opencl] and [cuda].
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <variant>

#include "runtime/daemon/config/options/fields.hpp"
#include "runtime/daemon/config/options/sections.hpp"
#include "runtime/daemon/config/values/move_link.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::int64_t kMostObjects = 1 << 22;  // that a worker's table holds
constexpr std::int64_t kMostCommands = 1 << 24;
constexpr std::uint64_t kLeastSharedMemory = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostParkedMemory = std::uint64_t{1} << 50;
constexpr double kShortestPatience = 0.1;  // seconds
constexpr double kLongestPatience = 86'400;
constexpr std::size_t kMostReadable = 64;
constexpr std::uint64_t kLeastWorkerMemory = std::uint64_t{64} << 20;  // a driver with its compiler
constexpr std::uint64_t kMostWorkerMemory = std::uint64_t{1} << 50;

/// SessionRule::move_link, in the text that people write.
OptionAccess<Config> link_field() {
  return {[](Config& config, const OptionValue& value) -> std::string {
            const auto link = parse_move_link(std::get<std::string>(value));
            if (!link) return link.error().message;
            config.session.move_link = link.value();
            return "";
          },
          [](const Config& config) -> std::optional<OptionValue> {
            const auto& link = config.session.move_link;
            return link ? std::optional(OptionValue(to_text(*link))) : std::nullopt;
          }};
}

}  // namespace

ConfigOptions<Config> session_options() {
  const auto in = [](auto member) { return within(&Config::session, field(member)); };
  return {
      {{"objects", IntegerType{1, kMostObjects}, "", Applies::new_programs, "", "OpenCL objects."},
       tuning(&session::WorkerTuning::objects)},
      {{"commands", IntegerType{1, kMostCommands}, "", Applies::new_programs, "",
        "Commands that wait for something only the program itself can do."},
       tuning(&session::WorkerTuning::commands)},
      {{"shared_memory", BytesType{kLeastSharedMemory, kMostSharedMemory}, "", Applies::new_programs,
        "the machine's memory, at most 64 GiB", "The memory that the program and its worker share."},
       in(&SessionRule::shared_memory)},
      {{"driver_messages", TruthType{}, "", Applies::new_programs, "",
        "Print on the program's standard error what its driver says on its own: warnings, remarks on builds. "
        "They are in the daemon's log either way. `FAIRGV_DRIVER_MESSAGES=off` goes before it."},
       in(&SessionRule::driver_messages)},
      {{"move_patience_s", NumberType{kShortestPatience, kLongestPatience}, "seconds", Applies::at_once, "",
        "How long a session that is to move (`fairgv migrate`) may take to end the commands that are under "
        "way "
        "and to be written down: after that it stays where it is."},
       within(&Config::session, time_field<std::chrono::seconds>(&SessionRule::move_patience))},
      {{"move_link", TextType{}, "", Applies::at_once, "none: images are handed over",
        "A link that is simulated between the two workers of a session that moves, as `100MB/s 1ms`: each "
        "image arrives that late. For experiments."},
       link_field()},
      {{"parked_memory", BytesType{0, kMostParkedMemory}, "", Applies::at_once,
        "a quarter of the machine's memory",
        "The most of the host's memory that the images of all parked sessions may take; images beyond it go "
        "to files (`fairgv park`)."},
       in(&SessionRule::parked_memory)},
      {{"parked_folder", TextType{"an absolute path", is_folder_name}, "", Applies::at_once,
        "`/var/lib/fairgv/parked` of root's daemon, else `~/.local/state/fairgv/parked`",
        "Where images of parked sessions lie in files without names; made if it is missing."},
       in(&SessionRule::parked_folder)},
  };
}

ConfigOptions<Config> worker_options() {
  const auto in = [](auto member) { return within(&Config::worker, field(member)); };
  return {
      {{"mount_view", ChoiceType{{"private", "shared"}}, "", Applies::new_programs, "",
        "What workers see of the file system: what drivers need, or what their users see."},
       within(&Config::worker, words_field(&WorkerRule::private_view, "private", "shared"))},
      {{"syscall_filter", TruthType{}, "", Applies::new_programs, "",
        "Refuse system calls that no driver needs."},
       in(&WorkerRule::syscall_filter)},
      {{"core_dumps", TruthType{}, "", Applies::new_programs, "", "Write core files of workers that crash."},
       in(&WorkerRule::core_dumps)},
      {{"memory", BytesType{kLeastWorkerMemory, kMostWorkerMemory}, "", Applies::new_programs, "no limit",
        "Private memory of a worker."},
       in(&WorkerRule::memory)},
      {{"readable", ListType{kMostReadable, is_folder_name, "absolute paths"}, "", Applies::new_programs,
        "none", "More folders that workers see."},
       in(&WorkerRule::readable)},
      {{"cache", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs,
        "`/var/cache/fairgv` of root's daemon, else `~/.cache/fairgv`",
        "Where drivers in workers keep what they compile, in a folder for each user."},
       in(&WorkerRule::cache)},
  };
}

ConfigOptions<Config> opencl_options() {
  return {
      {{"vendors", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs, "",
        "The folder with their `*.icd` files."},
       field(&Config::vendors)},
      {{"names", ChoiceType{{"fairgv", "driver"}}, "", Applies::new_programs, "",
        "Whose names programs see: `FairGV on` the driver's platform, by the vendor `FairGV`, or the "
        "driver's own, for programs that choose what they do by them. `FAIRGV_OPENCL_NAMES` in a program's "
        "environment goes before it."},
       words_field(&Config::driver_names, "driver", "fairgv")},
  };
}

ConfigOptions<Config> cuda_options() {
  return {
      {{"library", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs,
        "NVIDIA's where the system keeps it, else FairGV's own software driver",
        "The CUDA driver of the workers, a `libcuda.so.1`."},
       field(&Config::cuda_library)},
      {{"direct", kDirect, "", Applies::new_programs, "",
        "Whether programs may keep the driver in their own process, where it is not contained: none may; "
        "those that ask "
        "for it (`fairgv run --direct`, `FAIRGV_DIRECT=1`) may; or `fairgv run` starts CUDA programs so, "
        "unless it is "
        "told otherwise (`--no-direct`)."},
       direct_field(&Config::direct)},
  };
}

}  // namespace fairgv::daemon
