// A kernel object: its description, its arguments as last set, and the changes that the worker does not know
// yet.
//
// clSetKernelArg sends nothing. A launch sends the arguments that changed since the launch before, under the
// kernel's lock together with the command itself: the worker's copy of the arguments is always that of the
// latest command on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "icd/memory/memory.hpp"
#include "icd/objects/context.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "icd/objects/queue.hpp"
#include "icd/programs/argument_types.hpp"
#include "icd/programs/program.hpp"

namespace fairgv::icd {

/// The limits of a kernel's launches on a device, fetched at its first launch there. They never change,
/// because a program that has kernels cannot be built again.
struct KernelLimits {
  bool executable = false;          // the program is built for the device
  bool non_uniform_groups = false;  // work-groups may be of different sizes
  std::uint64_t max_group_size = 0;
  std::array<std::uint64_t, 3> required_group_size{};  // reqd_work_group_size, or zeros
  std::uint64_t local_bytes = 0;  // of local memory beside its arguments; 0 if it has none there
};

class Kernel : public Object<Kernel> {
 public:
  using Handle = cl_kernel;
  static constexpr Kind kKind = Kind::kernel;
  static constexpr bool kSurvivesFork = false;

  /// `description` is an element of `table`.
  Kernel(Program& program, std::shared_ptr<const KernelTable> table,
         const wire::KernelDescription& description);
  /// A copy with the same arguments (clCloneKernel).
  explicit Kernel(Kernel& other);
  ~Kernel();

  Program& program() const { return *program_; }
  Context& context() const { return program_->context(); }
  wire::ObjectId id() const { return id_; }

  /// clSetKernelArg. Two threads must not call it at the same time for one kernel (OpenCL 3.0, 5.9.2), so it
  /// takes no lock.
  cl_int set_argument(cl_uint index, std::size_t bytes, const void* value);
  /// clSetKernelArgSVMPointer, on the same terms. `pointer` is null or leads into an allocation of the
  /// context.
  cl_int set_svm_argument(cl_uint index, const void* pointer);

  /// The limits of launches on the device; nullptr if the session is lost. The device's limit stands in for a
  /// limit that the driver does not report.
  const KernelLimits* limits(Device& device);

  /// Bytes of local memory that the arguments ask for: never less than a launch would use.
  std::uint64_t local_argument_bytes() const { return local_bytes_; }

  /// The driver's answer whether it takes a launch on that queue, asked once for each shape. `question` is
  /// for this kernel. CL_INVALID_KERNEL_ARGS if an argument was never set; kSessionLost.
  cl_int ask_for_launch(const Queue& queue, const wire::CheckLaunch& question);

  /// Calls `send(updates, values)` with the arguments that changed since the previous call, under the
  /// kernel's lock. CL_INVALID_KERNEL_ARGS if an argument was never set, or changed to an object that is gone
  /// by now (the worker keeps objects that it knows as arguments); else the result of `send`. Allocates
  /// nothing if an earlier launch had as many changes.
  template <class Send>
  cl_int send_changes(Send&& send) {
    const std::lock_guard lock(mutex_);
    if (unset_ != 0) return CL_INVALID_KERNEL_ARGS;
    if (changed_ == 0) [[likely]]
      return send(std::span<const wire::ArgumentUpdate>(), std::span<const std::byte>());
    if (!collect_changes()) return CL_INVALID_KERNEL_ARGS;
    const cl_int error =
        send(std::span<const wire::ArgumentUpdate>(updates_), std::span<const std::byte>(values_));
    if (error == CL_SUCCESS) mark_known();
    return error;
  }

  /// clGetKernelInfo, clGetKernelArgInfo, clGetKernelWorkGroupInfo, clGetKernelSubGroupInfo.
  cl_int info(cl_kernel_info param, InfoSink sink);
  cl_int argument_info(cl_uint index, cl_kernel_arg_info param, InfoSink sink) const;
  cl_int group_info(const Device& device, cl_kernel_work_group_info param, InfoSink sink) {
    const wire::InfoReply* const reply = group_info_.known({device.index(), param});
    if (reply != nullptr && device.parent() == nullptr) return sink.reply(*reply);
    return find_group_info(device, param, sink.size, sink.value, sink.size_ret);
  }
  cl_int sub_group_info(const Device& device, cl_kernel_sub_group_info param,
                        std::span<const std::byte> input, InfoSink sink);

 private:
  struct Argument {
    ArgumentType type;
    bool set = false;
    bool changed = false;
    wire::ArgumentKind kind = wire::ArgumentKind::value;
    std::uint64_t bytes = 0;     // of a value or of local memory
    std::uint64_t accepted = 0;  // bytes of a value that the driver is known to take
    std::uint64_t object = 0;    // raw id of a memory object or a sampler; of a pointer: bytes into the arena
    const void* owner = nullptr;   // the Memory or the Sampler with that id; it may be gone
    std::vector<std::byte> value;  // keeps its capacity from call to call
  };

  // The rare cases are not inlined: the common cases are faster without their stack.
  cl_int set_memory(Argument& argument, std::size_t bytes, const void* value);
  [[gnu::noinline]] cl_int set_image(Argument& argument, cl_uint access, std::size_t bytes,
                                     const void* value);
  [[gnu::noinline]] cl_int set_sampler(Argument& argument, std::size_t bytes, const void* value);
  [[gnu::noinline]] cl_int set_pipe(Argument& argument, std::size_t bytes, const void* value);
  cl_int set_local(cl_uint index, std::size_t bytes, const void* value);
  cl_int set_value(cl_uint index, std::size_t bytes, const void* value);
  [[gnu::noinline]] cl_int set_undescribed(cl_uint index, std::size_t bytes, const void* value);
  [[gnu::noinline]] cl_int ask_for_size(cl_uint index, std::size_t bytes);
  [[gnu::noinline]] static void resize_value(Argument& argument, std::size_t bytes);
  [[gnu::always_inline]] void store(Argument& argument, wire::ArgumentKind kind, std::uint64_t bytes,
                                    std::uint64_t position = 0);
  template <class Owner>
  [[gnu::always_inline]] void store_object(Argument& argument, wire::ArgumentKind kind, const Owner& owner);
  [[gnu::always_inline]] cl_int store_value(cl_uint index, std::size_t bytes, const void* value);
  [[gnu::always_inline]] void mark_set(Argument& argument);
  static bool has_live_object(const Argument& argument);
  /// Collects changes into updates_ and values_. False if an argument's object is gone; that argument is left
  /// out.
  bool collect_changes();
  void send_arguments();
  void mark_known();
  cl_int find_group_info(const Device& device, cl_kernel_work_group_info param, std::size_t size, void* value,
                         std::size_t* size_ret);
  const wire::InfoReply* raw_group_info(wire::DeviceIndex device, cl_kernel_work_group_info param);
  std::optional<KernelLimits> fetch_limits(Device& device);

  const Ref<Program> program_;
  const std::shared_ptr<const KernelTable> table_;
  const wire::KernelDescription& description_;
  const wire::ObjectId id_;
  InfoCache<std::pair<wire::DeviceIndex, cl_kernel_work_group_info>> group_info_;

  const std::uint32_t argument_count_;  // of arguments_, without a division
  std::mutex mutex_;                    // guards the members below between launches; see set_argument()
  std::vector<Argument> arguments_;
  std::uint32_t unset_ = 0;
  std::uint32_t changed_ = 0;
  std::vector<wire::ArgumentUpdate> updates_;  // of the launch being sent
  std::vector<std::byte> values_;
  std::uint64_t local_bytes_ = 0;  // like arguments_

  /// Everything that the driver's answer depends on.
  using LaunchShape = std::array<std::uint64_t, 13>;
  static LaunchShape shape_of(const Device& device, const wire::CheckLaunch& question,
                              std::uint64_t local_bytes);
  struct Answer {
    LaunchShape shape{};
    cl_int error = CL_SUCCESS;
  };
  static constexpr std::size_t kMostAnswers = 16;
  std::mutex answers_mutex_;  // guards the next two members
  std::vector<Answer> answers_;
  std::size_t oldest_answer_ = 0;  // the next answer to be forgotten

  struct LimitsOf {
    wire::DeviceIndex device;
    KernelLimits limits;
  };
  std::mutex limits_mutex_;  // guards fetching
  std::vector<std::unique_ptr<const LimitsOf>> all_limits_;
  std::atomic<const LimitsOf*> latest_limits_{nullptr};  // of the device of the latest launch
};

}  // namespace fairgv::icd
