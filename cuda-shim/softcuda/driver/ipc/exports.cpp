#include "cuda-shim/softcuda/driver/ipc/exports.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/storage.hpp"
#include "runtime/base/page.hpp"

namespace fairgv::cuda::soft {
namespace {

/// The 64 bytes that programs hand each other.
struct Handle {
  std::array<char, 8> magic{};
  Ticket ticket;
  std::array<char, 24> unused{};
};
static_assert(sizeof(Handle) == sizeof(CUipcMemHandle));
constexpr std::array<char, 8> kHandleMagic{'F', 'G', 'V', 's', 'o', 'f', 't', '1'};

/// Another process' memory, at an address of this one.
class BorrowedMemory final : public Storage {
 public:
  BorrowedMemory(Mapping mapping, Socket hold) : mapping_(std::move(mapping)), hold_(std::move(hold)) {}
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(mapping_.data()); }

 private:
  const Mapping mapping_;
  const Socket hold_;  // closed behind the mapping's end
};

/// Whether the file has so many bytes, and always will: another process must not make this one's accesses
/// fault.
bool keeps(const UniqueFd& file, std::uint64_t bytes) {
  struct stat facts {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file.get(), &facts) == 0 &&
         static_cast<std::uint64_t>(facts.st_size) >= bytes;
}

}  // namespace

std::shared_ptr<Exchange> Exports::exchange() {
  if (exchange_) return exchange_;
  auto opened = Exchange::open(Exchange::folder_of_environment());
  if (opened) {
    exchange_ = std::move(opened).value();
  } else if (!std::exchange(is_told_, true)) {
    std::fprintf(stderr, "%s: memory cannot be given to other processes: %s\n", kEngineName,
                 opened.error().message.c_str());
  }
  return exchange_;
}

CUresult Exports::export_memory(const Allocation& allocation, CUipcMemHandle& handle) {
  auto& memory = static_cast<OwnedMemory&>(*allocation.storage);
  const std::lock_guard guard(lock_);
  std::optional<Ticket> ticket = memory.lent_as();
  if (!ticket) {
    const auto through = exchange();
    if (!through) return CUDA_ERROR_NOT_SUPPORTED;
    std::vector<std::shared_ptr<StreamGroup>> groups;
    for (const auto& context : Driver::get().contexts.all()) {
      if (const auto group = context->group()) groups.push_back(std::static_pointer_cast<StreamGroup>(group));
    }
    Result<UniqueFd> file = Error{};
    engine_.operations.quietly(groups, [&] { file = memory.share(allocation.size); });
    if (!file) return CUDA_ERROR_OUT_OF_MEMORY;
    std::string size(sizeof allocation.size, '\0');
    std::memcpy(size.data(), &allocation.size, size.size());
    const auto offered = through->offer(std::move(size), std::move(file).value());
    if (!offered) return CUDA_ERROR_OPERATING_SYSTEM;
    memory.lend(through, offered.value());
    ticket = offered.value();
  }
  handle = std::bit_cast<CUipcMemHandle>(Handle{kHandleMagic, *ticket, {}});
  return CUDA_SUCCESS;
}

CUresult Exports::open_exported(Context&, const CUipcMemHandle& handle, Allocation& opened) {
  const auto asked = std::bit_cast<Handle>(handle);
  if (asked.magic != kHandleMagic) return CUDA_ERROR_INVALID_HANDLE;
  {
    const std::lock_guard guard(lock_);
    if (exchange_ && exchange_->is_own(asked.ticket)) return CUDA_ERROR_INVALID_CONTEXT;
  }
  auto taken = Exchange::take(Exchange::folder_of_environment(), asked.ticket);
  if (!taken) return CUDA_ERROR_INVALID_HANDLE;
  std::uint64_t size = 0;
  if (taken.value().text.size() != sizeof size) return CUDA_ERROR_MAP_FAILED;
  std::memcpy(&size, taken.value().text.data(), sizeof size);
  if (size == 0 || size > INT64_MAX || !keeps(taken.value().file, round_up_to_page(size)))
    return CUDA_ERROR_MAP_FAILED;
  auto mapping = Mapping::shared(taken.value().file.get(), round_up_to_page(size));
  if (!mapping) return CUDA_ERROR_MAP_FAILED;
  auto storage = std::make_unique<BorrowedMemory>(std::move(mapping).value(), std::move(taken.value().hold));
  opened.begin = storage->address();
  opened.begin_on_device = opened.begin;
  opened.size = size;
  opened.storage = std::move(storage);
  return CUDA_SUCCESS;
}

void Exports::stop() {
  const std::lock_guard guard(lock_);
  if (exchange_) exchange_->close();
}

}  // namespace fairgv::cuda::soft
