#include "cuda-shim/api/shared/events.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"
#include "runtime/base/signals_blocked.hpp"

namespace fairgv::cuda {

/// The part of an event beside its marker, if processes share it.
struct SharedPart {
  SharedPart(std::shared_ptr<EventPage> of_page, Socket of_maker)
      : page(std::move(of_page)), hold(std::move(of_maker)) {}
  ~SharedPart() {
    if (offered) offered->withdraw(ticket);
  }
  SharedPart(const SharedPart&) = delete;
  SharedPart& operator=(const SharedPart&) = delete;

  const std::shared_ptr<EventPage> page;
  const Socket hold;                  // of an opened event: its maker knows who has it
  std::shared_ptr<Exchange> offered;  // null: not exported. Guarded by SharedEvents' lock
  Ticket ticket;
};

namespace {

/// The 64 bytes that programs hand each other.
struct EventHandle {
  std::array<char, 8> magic{};
  Ticket ticket;
  std::array<char, 24> unused{};
};
static_assert(sizeof(EventHandle) == sizeof(CUipcEventHandle));
constexpr std::array<char, 8> kEventMagic{'F', 'G', 'V', 'e', 'v', 'n', 't', '1'};

}  // namespace

std::shared_ptr<Exchange> SharedEvents::exchange() {
  if (exchange_) return exchange_;
  auto opened = Exchange::open(Exchange::folder_of_environment());
  if (opened) {
    exchange_ = std::move(opened).value();
  } else {
    std::fprintf(stderr, "fairgv: events cannot be given to other processes: %s\n",
                 opened.error().message.c_str());
  }
  return exchange_;
}

CUresult SharedEvents::make(CUcontext owner, unsigned flags, std::shared_ptr<Event>& event) {
  auto page = EventPage::make();
  if (!page) return CUDA_ERROR_OUT_OF_MEMORY;
  event = std::make_shared<Event>(owner, flags);
  event->shared = std::make_shared<SharedPart>(std::move(page).value(), Socket());
  return CUDA_SUCCESS;
}

CUresult SharedEvents::export_event(const Event& event, CUipcEventHandle& handle) {
  if (!event.shared || event.shared->hold) return CUDA_ERROR_INVALID_HANDLE;
  SharedPart& part = *event.shared;
  const std::lock_guard guard(lock_);
  if (!part.offered) {
    const auto through = exchange();
    if (!through) return CUDA_ERROR_NOT_SUPPORTED;
    auto file = part.page->file();
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    const auto ticket = through->offer("event", std::move(file).value());
    if (!ticket) return CUDA_ERROR_OPERATING_SYSTEM;
    part.ticket = ticket.value();
    part.offered = through;
  }
  handle = std::bit_cast<CUipcEventHandle>(EventHandle{kEventMagic, part.ticket, {}});
  return CUDA_SUCCESS;
}

CUresult SharedEvents::open(CUcontext owner, const CUipcEventHandle& handle, std::shared_ptr<Event>& event) {
  const auto asked = std::bit_cast<EventHandle>(handle);
  if (asked.magic != kEventMagic) return CUDA_ERROR_INVALID_HANDLE;
  {
    const std::lock_guard guard(lock_);
    if (exchange_ && exchange_->is_own(asked.ticket)) return CUDA_ERROR_INVALID_CONTEXT;
  }
  auto taken = Exchange::take(Exchange::folder_of_environment(), asked.ticket);
  if (!taken || !taken.value().file) return CUDA_ERROR_INVALID_HANDLE;
  auto page = EventPage::open(std::move(taken.value().file));
  if (!page) return CUDA_ERROR_MAP_FAILED;
  event = std::make_shared<Event>(owner, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  event->shared = std::make_shared<SharedPart>(std::move(page).value(), std::move(taken.value().hold));
  return CUDA_SUCCESS;
}

CUresult SharedEvents::record(Driver& driver, const std::shared_ptr<Stream>& stream, const Event& event) {
  const auto page = event.shared->page;
  const RecordName record = page->begin_record();
  const CUresult code = driver.scheduler.run_on_host(
      stream, [page, record](CUresult) { page->end_record(record); }, true);
  if (code != CUDA_SUCCESS) page->end_record(record);
  return code;
}

CUresult SharedEvents::wait(Driver& driver, const std::shared_ptr<Stream>& stream, const Event& event) {
  const auto page = event.shared->page;
  const RecordName record = page->latest();
  if (page->has_ended(record)) return CUDA_SUCCESS;
  const auto until = std::make_shared<Signal>();
  {
    const std::lock_guard guard(lock_);
    std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.until.expired(); });
    waiting_.push_back({stream->group()->owner(), until});
  }
  // A thread for each wait: processes that wait for each other have few.
  const SignalsBlocked blocked;
  try {
    std::thread([page, record, until] {
      while (!until->is_set() && !page->wait_a_while(record)) {
      }
      until->set();
    }).detach();
  } catch (const std::system_error&) {
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  return driver.scheduler.hold(stream, until);
}

void SharedEvents::give_up(CUcontext context) {
  std::vector<std::shared_ptr<Signal>> over;
  {
    const std::lock_guard guard(lock_);
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      auto until = waiting.until.lock();
      if (until && waiting.context != context) return false;
      if (until) over.push_back(std::move(until));
      return true;
    });
  }
  for (const auto& until : over) until->set();
}

void SharedEvents::stop() {
  const std::lock_guard guard(lock_);
  if (exchange_) exchange_->close();
}

bool is_recorded_elsewhere(const Event& event) {
  if (!event.shared) return false;
  const RecordName latest = event.shared->page->latest();
  return latest.number != 0 && !event.shared->page->is_own(latest);
}

bool has_ended_elsewhere(const Event& event) {
  return event.shared->page->has_ended(event.shared->page->latest());
}

void wait_elsewhere(const Event& event) {
  const RecordName record = event.shared->page->latest();
  while (!event.shared->page->wait_a_while(record)) {
  }
}

}  // namespace fairgv::cuda
