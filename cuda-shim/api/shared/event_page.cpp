#include "cuda-shim/api/shared/event_page.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <ctime>
#include <string>
#include <utility>

#include "runtime/base/page.hpp"

namespace fairgv::cuda {
namespace {

/// So many records may be under way at a time and be told apart.
constexpr std::size_t kRecords = 64;
/// Processes that have the event at a time.
constexpr std::uint16_t kMostProcesses = 1024;
/// How long a waiter sleeps before it looks whether the recorder still lives.
constexpr long kLookAfterNs = 100'000'000;

struct flock byte_of(std::uint16_t process, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = process;
  lock.l_len = 1;
  return lock;
}

/// The first byte of the file that nobody has locked; 0: there is none.
std::uint16_t lock_any(const UniqueFd& file) {
  for (std::uint16_t process = 1; process <= kMostProcesses; ++process) {
    struct flock lock = byte_of(process, F_WRLCK);
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return process;
  }
  return 0;
}

}  // namespace

struct EventPage::Contents {
  /// The number of the latest record, and its recorder in the lowest 16 bits. Exchanged with acq_rel by
  /// begin_record(), loaded with acquire by latest().
  std::atomic<std::uint64_t> latest;
  /// By number: the lower half of the number of a record that has ended. Stored with release by end_record(),
  /// loaded with acquire by has_ended().
  std::atomic<std::uint32_t> ended[kRecords];
};

namespace {

std::uint32_t short_number(const RecordName& record) {
  return static_cast<std::uint32_t>(record.number);
}

/// Numbers may wrap around.
bool is_reached(std::uint32_t ended, const RecordName& record) {
  return static_cast<std::int32_t>(ended - short_number(record)) >= 0;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* patience) {
  return ::syscall(SYS_futex, &word, operation, value, patience, nullptr, 0);
}

}  // namespace

EventPage::EventPage(UniqueFd file, Mapping page, std::uint16_t own)
    : file_(std::move(file)), page_(std::move(page)), own_(own) {}

Result<std::shared_ptr<EventPage>> EventPage::make() {
  UniqueFd file(::memfd_create("fairgv-event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(kPageBytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("cannot make a memory file for an event");
  }
  return enter(std::move(file));
}

Result<std::shared_ptr<EventPage>> EventPage::open(UniqueFd file) {
  struct stat facts {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  const bool stays = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file.get(), &facts) == 0 &&
                     facts.st_size == static_cast<off_t>(kPageBytes);
  return stays ? enter(std::move(file)) : Error{"the event's memory is not what it should be"};
}

Result<std::shared_ptr<EventPage>> EventPage::enter(UniqueFd file) {
  static_assert(sizeof(Contents) <= kPageBytes);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  UniqueFd own(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!own) return system_error("cannot open an event's memory file");
  const std::uint16_t place = lock_any(own);
  if (place == 0) return Error{"too many processes have the event"};
  FAIRGV_TRY(page, Mapping::shared(own.get(), kPageBytes));
  return std::shared_ptr<EventPage>(new EventPage(std::move(own), std::move(page).value(), place));
}

Result<UniqueFd> EventPage::file() const {
  UniqueFd copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return system_error("cannot copy an event's descriptor");
  return copy;
}

EventPage::Contents& EventPage::contents() const {
  return *reinterpret_cast<Contents*>(page_.data());
}

RecordName EventPage::begin_record() {
  auto& latest = contents().latest;
  std::uint64_t before = latest.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    after = (((before >> 16U) + 1) << 16U) | own_;
  } while (!latest.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  return {after >> 16U, own_};
}

void EventPage::end_record(const RecordName& record) {
  auto& word = contents().ended[record.number % kRecords];
  word.store(short_number(record), std::memory_order_release);
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

RecordName EventPage::latest() const {
  const std::uint64_t latest = contents().latest.load(std::memory_order_acquire);
  return {latest >> 16U, static_cast<std::uint16_t>(latest)};
}

bool EventPage::has_ended(const RecordName& record) const {
  if (record.number == 0) return true;
  const auto& word = contents().ended[record.number % kRecords];
  return is_reached(word.load(std::memory_order_acquire), record) || !lives(record.recorder);
}

bool EventPage::wait_a_while(const RecordName& record) const {
  if (has_ended(record)) return true;
  auto& word = contents().ended[record.number % kRecords];
  const std::uint32_t seen = word.load(std::memory_order_acquire);
  if (is_reached(seen, record)) return true;
  const timespec patience{0, kLookAfterNs};
  futex(word, FUTEX_WAIT, seen, &patience);
  return has_ended(record);
}

bool EventPage::lives(std::uint16_t process) const {
  if (process == own_) return true;
  struct flock lock = byte_of(process, F_WRLCK);
  return process != 0 && ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace fairgv::cuda
