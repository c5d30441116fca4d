#include "runtime/daemon/service/disk_work.hpp"

#include <string>
#include <system_error>
#include <utility>

namespace fairgv::daemon {

DiskWork::~DiskWork() {
  for (const auto& [id, job] : jobs_) job->stop.store(true, std::memory_order_relaxed);
  for (const auto& [id, job] : jobs_) job->thread.join();
}

Result<DiskWork::Id> DiskWork::start(Work work, Done done) {
  FAIRGV_TRY(signal, EventSignal::make("a disk work's"));
  const Id id = ++last_;
  auto job = std::make_unique<Job>(std::move(signal).value(), std::move(done));
  auto watch = events_.watch(job->ended.fd(), [this, id] { on_end(id); });
  if (!watch) return watch.error();
  job->watch = std::move(watch).value();
  try {
    // The job stays where it is until the thread was joined.
    job->thread = std::thread([its = job.get(), todo = std::move(work)] {
      its->result = todo(its->stop);
      its->ended.raise();
    });
  } catch (const std::system_error& error) {
    return Error{std::string("cannot start a thread: ") + error.what()};
  }
  jobs_.emplace(id, std::move(job));
  return id;
}

void DiskWork::forget(Id id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  found->second->stop.store(true, std::memory_order_relaxed);
  found->second->done = nullptr;
}

void DiskWork::on_end(Id id) {
  const auto found = jobs_.find(id);
  const std::unique_ptr<Job> job = std::move(found->second);
  jobs_.erase(found);
  job->thread.join();
  if (job->done) job->done(job->result);
}

}  // namespace fairgv::daemon
