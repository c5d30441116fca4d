#include "runtime/vgpu/placement.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "runtime/base/core_set.hpp"

namespace fairgv::vgpu {
namespace {

/// The processors that a CPU device runs on.
Result<cpu_set_t> device_processors(const std::string& device_cores) {
  return device_cores.empty() ? allowed_cores() : parse_core_set(device_cores);
}

}  // namespace

Result<std::unique_ptr<BackEnd>> open_on_device_cores(const session::WorkerOptions& options) {
  if (options.tuning.device_cores.empty()) return open_back_end(options);
  FAIRGV_TRY(cores, device_processors(options.tuning.device_cores));
  FAIRGV_TRY(all, allowed_cores());
  // PoCL makes as many threads as the machine has cores unless it is told (3.1; POCL_MAX_PTHREAD_COUNT). The
  // administrator's choice comes first.
  ::setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(CPU_COUNT(&cores.value())).c_str(), 0);
  FAIRGV_CHECK(run_on(cores.value()));
  auto back_end = open_back_end(options);
  FAIRGV_CHECK(run_on(other_cores(all.value(), cores.value())));
  return back_end;
}

Placement::Placement(const std::vector<pid_t>& threads, const cpu_set_t& processors,
                     Processors commands_run_on, bool one_cpu_device)
    : commands_run_on_(commands_run_on),
      one_cpu_device_(one_cpu_device),
      stolen_(std::make_unique<StolenTime>(threads, HostSteal(processors))) {}

Result<Placement> Placement::find(const BackEnd& back_end, const std::string& device_cores) {
  std::vector<pid_t> threads = own_threads();  // this one, and those that the driver has started
  std::erase(threads, ::gettid());
  FAIRGV_TRY(processors, device_processors(device_cores));
  const Processors commands_run_on = !back_end.has_host_device() ? Processors::the_devices_own
                                     : !device_cores.empty()     ? Processors::other_cpus
                                                                 : Processors::our_cpus;
  const auto others = allowed_cores();  // this thread's
  if (!others) return others.error();
  const bool one_cpu_device = back_end.is_one_cpu_device();
  Placement placement(threads, processors.value(), commands_run_on, one_cpu_device);
  if (one_cpu_device && placement.apart()) placement.compilers_.emplace(std::move(threads), others.value());
  return placement;
}

void Placement::configure(IssueSettings& settings) {
  if (!one_cpu_device_) return;
  settings.turn.rest = [this] { stolen_->rest(); };
  settings.turn.watch_for_theft = [this](bool rested) { stolen_->restart(rested); };
  settings.turn.stolen = [this](Duration unused) { return stolen_->so_far(unused); };
  if (!compilers_) return;
  settings.compiler = [this](bool at_work) { at_work ? compilers_->leave() : compilers_->come_back(); };
}

}  // namespace fairgv::vgpu
