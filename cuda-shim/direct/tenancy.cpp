#include "cuda-shim/direct/tenancy.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "cuda-shim/direct/describe.hpp"
#include "cuda-shim/direct/driver.hpp"
#include "runtime/base/page.hpp"
#include "runtime/session/client/quiet_thread.hpp"
#include "runtime/session/client/standard_error.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/trust/trusted_daemon.hpp"

namespace fairgv::cuda::direct {
namespace {

constexpr const char* kOlderDaemon =
    "this fairgvd has no direct mode: install a newer release and run `fairgv restart`, or run the program "
    "without direct mode";

std::mutex g_beginning;  // one cuInit at a time

/// The descriptors of the session, for a fork's child to close: while it held them, nobody would see the
/// parent's end.
std::array<std::atomic<int>, 5> g_descriptors{-1, -1, -1, -1, -1};

/// The program's message that it wants to be its own worker.
session::Hello hello_of(const session::ClientIdentity& identity) {
  session::Hello hello;
  hello.features &= ~std::uint64_t{session::kKernelOutput | session::kDriverMessages};
  hello.tenant = identity.tenant;
  hello.wish = identity.wish;
  hello.slicing = identity.slicing;
  hello.memory = identity.memory;
  hello.program = identity.program.substr(0, session::kLongestProgramName);
  hello.pid = ::getpid();
  hello.api = session::Api::cuda;
  hello.direct = true;
  return hello;
}

/// The driver's cuInit. The software driver runs on an OpenCL driver, and not on FairGV's front end, to which
/// `fairgv run` leads a program's OpenCL loader.
CUresult start_driver(const LoadedDriver& driver, unsigned flags) {
  constexpr const char* kVendors = "OCL_ICD_VENDORS";
  const char* const vendors = std::getenv(kVendors);
  const bool is_ours = vendors != nullptr && std::string_view(vendors).ends_with("/fairgv/vendors");
  if (!is_ours || !is_software(driver.handle)) return FAIRGV_DRIVER(cuInit)(flags);
  const std::string before = vendors;
  ::unsetenv(kVendors);
  const CUresult code = FAIRGV_DRIVER(cuInit)(flags);
  ::setenv(kVendors, before.c_str(), 1);
  return code;
}

std::string words_of(CUresult code) {
  const char* text = nullptr;
  if (FAIRGV_DRIVER(cuGetErrorString)(code, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return std::string(text) + " (" + std::to_string(static_cast<int>(code)) + ")";
}

struct Welcomed {
  session::Welcome welcome;
  ring::HeaderView header;
};

Result<Welcomed> receive_welcome(const Socket& socket) {
  FAIRGV_TRY(packet, socket.receive());
  if (packet->kind != Packet::Kind::message) return Error{"the daemon hung up without an answer"};
  FAIRGV_TRY(answer, session::parse_hello_answer(packet->text));
  if (const auto* refused = std::get_if<session::Refused>(&answer.value())) return Error{refused->reason};
  if (packet->fds.size() != 1) return Error{"the daemon's welcome came without its descriptors"};
  FAIRGV_TRY(header, ring::HeaderView::attach(packet->fds.front().get()));
  return Welcomed{std::move(std::get<session::Welcome>(answer.value())), std::move(header).value()};
}

}  // namespace

std::atomic<Tenancy*> Tenancy::g_current{nullptr};

CUresult Tenancy::begin(unsigned flags) {
  const std::lock_guard lock(g_beginning);
  const LoadedDriver& driver = load_driver();
  const auto refuse = [](const std::string& why) {
    static std::atomic<bool> told{false};  // relaxed: one line is enough
    if (!told.exchange(true, std::memory_order_relaxed)) session::say(why);
    return CUDA_ERROR_NO_DEVICE;
  };
  if (driver.handle == nullptr)
    return refuse("direct mode has no driver to pass calls to: " + driver.failure);
  if (flags != 0 || current() != nullptr) return FAIRGV_DRIVER(cuInit)(flags);
  CUresult code = CUDA_ERROR_NO_DEVICE;
  auto made = make(flags, code);
  if (!made) return refuse(made.error().message);
  if (made.value() == nullptr) return code;
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    ::pthread_atfork(nullptr, nullptr, &Tenancy::in_child);
    // Behind the driver's own: it runs before them.
    std::atexit(&Tenancy::at_exit);
  });
  Tenancy* const tenancy = made.value().release();
  tenancy->start_threads();
  g_current.store(tenancy, std::memory_order_release);
  return CUDA_SUCCESS;
}

/// Null without an Error: the driver does not start, and `code` is its answer.
Result<std::unique_ptr<Tenancy>> Tenancy::make(unsigned flags, CUresult& code) {
  FAIRGV_TRY(identity, session::identity_from_environment());
  FAIRGV_TRY(socket, session::connect_to_daemon(identity->socket_path));
  FAIRGV_CHECK(socket->send(to_text(hello_of(identity.value()))));
  FAIRGV_TRY(ends, receive_ends(socket.value()));
  const LoadedDriver& driver = load_driver();
  const auto fail = [&ends](const std::string& why) {
    static_cast<void>(ends->channel.send(to_text(session::WorkerFailed{why})));
    return Error{why};
  };
  if (const std::string& wanted = ends->told.library; !wanted.empty() && !are_one_file(wanted, driver.path)) {
    return fail("the daemon's driver is " + wanted + " and this program has loaded " + driver.path +
                ": start it by `fairgv run --direct`, or set FAIRGV_CUDA_DRIVER=" + wanted);
  }
  code = start_driver(driver, flags);
  if (code != CUDA_SUCCESS) {
    static_cast<void>(fail("the CUDA driver " + driver.path + " does not start: " + words_of(code)));
    return std::unique_ptr<Tenancy>();
  }
  const DescribedDevices described = describe_devices(driver.handle);
  if (described.devices.empty()) {
    code = CUDA_ERROR_NO_DEVICE;
    static_cast<void>(fail("the CUDA driver " + driver.path + " finds no device"));
    return std::unique_ptr<Tenancy>();
  }
  if (described.devices.size() > session::kMaxDevices) {
    return fail("this machine has more CUDA devices than the " + std::to_string(session::kMaxDevices) +
                " that can be shared: name some in CUDA_VISIBLE_DEVICES");
  }
  FAIRGV_CHECK(ends->channel.send(to_text(session::WorkerReady{.devices = described.devices})));
  FAIRGV_TRY(welcomed, receive_welcome(socket.value()));
  return std::unique_ptr<Tenancy>(new Tenancy(std::move(socket).value(), std::move(ends).value(),
                                              std::move(welcomed->header), std::move(welcomed->welcome),
                                              described));
}

Result<Tenancy::Ends> Tenancy::receive_ends(const Socket& socket) {
  FAIRGV_TRY(packet, socket.receive());
  if (packet->kind != Packet::Kind::message) return Error{"the daemon hung up without an answer"};
  FAIRGV_TRY(answer, session::parse_direct_answer(packet->text));
  if (const auto* refused = std::get_if<session::Refused>(&answer.value())) return Error{refused->reason};
  auto* const ends = std::get_if<session::DirectEnds>(&answer.value());
  if (ends == nullptr) return Error{kOlderDaemon};
  if (packet->fds.size() != session::DirectEnds::kDescriptors) {
    return Error{"the daemon's answer came without its descriptors"};
  }
  FAIRGV_TRY(turns, session::TurnMemory::attach(std::move(packet->fds[0])));
  return Ends{std::move(*ends), std::move(turns).value(), Socket(std::move(packet->fds[1])),
              Socket(std::move(packet->fds[2])), std::move(packet->fds[3])};
}

Tenancy::Tenancy(Socket socket, Ends ends, ring::HeaderView header, session::Welcome welcome,
                 const DescribedDevices& devices)
    : socket_(std::move(socket)),
      ends_(std::move(ends)),
      header_(std::move(header)),
      welcome_(std::move(welcome)),
      ledger_(ends_.ledger) {
  // A fork's child that still ran in this memory would be another client of the same pages.
  ::madvise(&header_.header(), kPageBytes, MADV_DONTFORK);
  ::madvise(&ends_.turns.page(), round_up_to_page(sizeof(session::TurnPage)), MADV_DONTFORK);
  const int descriptors[] = {socket_.fd(), ends_.turns.fd(), ends_.channel.fd(), ends_.ledger.fd(),
                             ends_.knock.get()};
  for (std::size_t at = 0; at < g_descriptors.size(); ++at)
    g_descriptors[at].store(descriptors[at], std::memory_order_relaxed);
  make_gates(devices);
}

void Tenancy::make_gates(const DescribedDevices& devices) {
  header_.header().coscheduling.device_apart.store(devices.on_host ? 0 : 1, std::memory_order_relaxed);
  vgpu::TurnSettings settings;
  settings.slice = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(ends_.told.slice_ms));
  settings.samples = ends_.told.samples;
  session::TurnPromises* const promises = ends_.turns.promises();
  for (std::size_t device = 0; device < devices.devices.size(); ++device) {
    const vgpu::TurnPages pages{ends_.turns.page().devices[device],
                                promises != nullptr ? &promises->devices[device] : nullptr};
    const Gate::Session session{header_.header(), [fd = ends_.knock.get()] { session::knock(fd); },
                                [this] { tell_loss(); }, !devices.on_host};
    gates_.push_back(std::make_unique<Gate>(pages, settings, session));
  }
}

void Tenancy::start_threads() {
  for (const auto& gate : gates_) {
    session::quiet_thread([its = gate.get()] {
      its->keep();
      // It never ends by itself: a thread that has called the driver has the driver's own data, whose end
      // would call the driver while the process ends.
      for (;;) ::pause();
    }).detach();
  }
  session::quiet_thread([this] { watch_socket(); }).detach();
}

/// The daemon says nothing after its welcome: anything is the end.
void Tenancy::watch_socket() {
  pollfd daemon{socket_.fd(), POLLIN, 0};
  while (::poll(&daemon, 1, -1) < 0) {
    // EINTR
  }
  header_.close();
}

void Tenancy::tell_loss() {
  if (told_loss_.exchange(true, std::memory_order_relaxed)) return;
  session::say(
      "the session of this process is over (fairgvd stopped, or ended it): CUDA calls that give the device "
      "work fail "
      "from now on; the daemon's log has the reason");
}

Gate* Tenancy::gate_of(CUstream stream, CUcontext context) {
  if (gates_.size() == 1) return gates_.front().get();
  const bool own = stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
  if (own && FAIRGV_DRIVER(cuStreamGetCtx)(stream, &context) != CUDA_SUCCESS) return nullptr;
  return gate_of(context);
}

Gate* Tenancy::gate_of(CUcontext context) {
  if (context == nullptr) return nullptr;
  if (gates_.size() == 1) return gates_.front().get();
  const InContext in(context);
  CUdevice device = 0;
  if (!in.ok() || FAIRGV_DRIVER(cuCtxGetDevice)(&device) != CUDA_SUCCESS) return nullptr;
  const auto ordinal = static_cast<std::size_t>(device);
  return ordinal < gates_.size() ? gates_[ordinal].get() : nullptr;
}

GraphMemory::Books Tenancy::books_of_graphs() {
  return {.charge = [this](std::uint32_t device, std::uint64_t bytes) { return charge(device, bytes); },
          .give_back =
              [this](std::uint32_t device, std::uint64_t bytes) {
                ledger_.give_back({device, bytes});
              },
          .trim =
              [](std::uint32_t device) {
                const auto ordinal = static_cast<CUdevice>(device);
                cuuint64_t kept = 0;
                const bool known =
                    FAIRGV_DRIVER(cuDeviceGraphMemTrim)(ordinal) == CUDA_SUCCESS &&
                    FAIRGV_DRIVER(cuDeviceGetGraphMemAttribute)(
                        ordinal, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &kept) == CUDA_SUCCESS;
                return known ? kept : 0;
              }};
}

bool Tenancy::charge(std::uint32_t device, std::uint64_t bytes) {
  if (ledger_.charge(device, bytes)) return true;
  const bool settled = graph_memory_.settle(device);
  return (await_frees(device) || settled) && ledger_.charge(device, bytes);
}

bool Tenancy::await_frees(std::uint32_t device) {
  // As long as a long run; a stream that waits for the program's own host code must not keep this call for
  // ever.
  constexpr std::chrono::milliseconds kPatience{100};
  if (device >= gates_.size() || !gates_[device]->frees()) return false;
  auto ended = std::make_shared<std::promise<void>>();
  const auto end = ended->get_future();
  gates_[device]->after_what_runs([ended] { ended->set_value(); });
  end.wait_for(kPatience);
  return true;
}

CUcontext Tenancy::primary_of(CUdevice device) const {
  const auto ordinal = static_cast<std::size_t>(device);
  return device >= 0 && ordinal < gates_.size() ? primaries_[ordinal].load(std::memory_order_relaxed)
                                                : nullptr;
}

void Tenancy::note_primary(CUdevice device, CUcontext context) {
  const auto ordinal = static_cast<std::size_t>(device);
  if (device >= 0 && ordinal < gates_.size()) primaries_[ordinal].store(context, std::memory_order_relaxed);
}

bool Tenancy::is_hidden(const Gate& gate) const {
  for (std::size_t device = 0; device < gates_.size(); ++device) {
    if (gates_[device].get() == &gate) return (welcome_.hidden_devices >> device & 1) != 0;
  }
  return false;
}

/// Of a fork: only what a signal handler may do.
void Tenancy::in_child() {
  g_current.store(nullptr, std::memory_order_relaxed);
  for (auto& descriptor : g_descriptors) {
    const int fd = descriptor.exchange(-1, std::memory_order_relaxed);
    if (fd >= 0) ::close(fd);
  }
}

/// The driver ends next, and must not be called by our threads.
void Tenancy::at_exit() {
  Tenancy* const tenancy = g_current.exchange(nullptr, std::memory_order_acq_rel);
  if (tenancy == nullptr) return;
  for (const auto& gate : tenancy->gates_) gate->stop();
}

}  // namespace fairgv::cuda::direct
