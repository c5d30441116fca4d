// The worker's CUDA objects, one class per kind, each owning its driver handle and sharing what it depends
// on.
//
// The loop thread's, which also destroys them; it takes over the result of a load or a link on the slow lane
// once that has ended.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/issue/made_code.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/wire/calls/cuda/contexts.hpp"
#include "slicing/ptx_slicing/rewrite.hpp"

namespace fairgv::vgpu::cuda {

enum class ObjectKind { context, stream, module, function, array, mipmap, texture, surface, linked };

class Object {
 public:
  virtual ~Object() = default;
  virtual ObjectKind kind() const = 0;
  /// The front end has let go of it, which commands may still use.
  virtual void release() = 0;

  wire::ObjectId id{};  // the front end's name for it
};

/// Gives an object class its place in the table of objects.
template <class Self, ObjectKind kind_of>
class ObjectOf : public Object {
 public:
  static constexpr ObjectKind kKind = kind_of;
  ObjectKind kind() const final { return kKind; }
  void release() final {
    if constexpr (requires(Self & self) { self.charge.expect(); }) static_cast<Self&>(*this).charge.expect();
  }
};

class EndWatcher;
struct Stream;

/// A context of the driver's. All ids of a device's primary context share one.
struct Context final : ObjectOf<Context, ObjectKind::context> {
  static constexpr std::string_view kName = "context";

  Context(const Functions& of_driver, const Device& of_device, bool primary)
      : driver(of_driver), device(of_device), is_primary(primary) {}
  ~Context() override;

  const Functions& driver;
  const Device& device;
  const bool is_primary;
  CUcontext handle = nullptr;
  EndWatcher* ends = nullptr;                    // null: the driver calls back
  bool prints = false;                           // kernels of its modules may
  bool has_placed_heap = false;                  // that a worker before this one had made
  std::atomic<std::uint64_t>* issued = nullptr;  // WordWatcher::issued(); null: nobody asks

  // The order of the default stream among the others; see order_of() in stream_order.cpp.
  std::weak_ptr<Stream> legacy;
  wire::ObjectId legacy_id;  // the program's; once it is released, there may be another one
  std::vector<std::weak_ptr<Stream>> blocking;
};

struct Stream final : ObjectOf<Stream, ObjectKind::stream> {
  static constexpr std::string_view kName = "stream";

  ~Stream() override;

  std::shared_ptr<Context> context;
  wire::cuda::StreamKind stream_kind = wire::cuda::StreamKind::blocking;
  std::shared_ptr<Lane> lane;
  CUstream handle = nullptr;
  CUresult code = CUDA_SUCCESS;     // why there is no handle
  CUevent reached = nullptr;        // for others that wait for it in the driver; made when first needed
  std::vector<CUevent> spare_ends;  // the EndWatcher's

  /// Its waits for words end. Stored with release by the loop thread, loaded with acquire by the WordWatcher.
  std::atomic<bool> gives_up_waits{false};

  std::weak_ptr<Node> last;  // its latest command
  /// Of a blocking stream: the latest command of the legacy one that its own already wait for. Of the legacy
  /// one's view of this stream, the same the other way round.
  std::weak_ptr<Node> legacy_seen, seen_by_legacy;
};

/// The result of a load on the slow lane.
struct Loaded {
  CUmodule handle = nullptr;
  CUresult code = CUDA_ERROR_NOT_READY;
  std::string info_log, error_log;
  /// Its functions as the rewriting has them; empty: it runs as it is, for `why_whole`.
  std::map<std::string, slicing::SlicedEntry, std::less<>> entries;
  std::set<std::string, std::less<>> part_names;  // of functions that the program does not know of
  std::string why_whole;
  std::uint64_t bytes = 0;        // of the image that the driver got
  std::atomic<bool> done{false};  // release on the slow lane, acquire on the loop thread
};

struct Module final : ObjectOf<Module, ObjectKind::module> {
  static constexpr std::string_view kName = "module";

  ~Module() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Loaded> loaded;
  MemoryCharge charge;

  /// CUDA_ERROR_NOT_READY while it is being loaded.
  CUresult code() const {
    return loaded->done.load(std::memory_order_acquire) ? loaded->code : CUDA_ERROR_NOT_READY;
  }
};

/// Where one parameter of a launch lies in its block.
struct ParameterPlace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct Function final : ObjectOf<Function, ObjectKind::function> {
  static constexpr std::string_view kName = "function";
  std::shared_ptr<Module> module;
  CUfunction handle = nullptr;
  CUfunction part_handle = nullptr;        // of the function that runs its parts
  std::string name;                        // as people write it
  std::uint64_t kind_number = 0;           // tells functions apart
  std::vector<ParameterPlace> parameters;  // the application's
  std::uint64_t parameter_bytes = 0;       // of the application's block
  /// It can run in parts; their block then has this behind the application's, or nothing if it needs none.
  bool is_sliceable = false;
  std::optional<slicing::HiddenParameterPlace> hidden;
  std::string why_whole;  // why not
  // The loop thread's:
  std::unordered_map<std::uint64_t, MadeCode> code;  // by the number by which the driver tells code apart
  std::uint64_t last_code = 0;                       // of the last launch
  MadeCode* last_made = nullptr;
};

/// A mipmapped array, charged for all its levels, which are arrays of the driver's.
struct Mipmap final : ObjectOf<Mipmap, ObjectKind::mipmap> {
  static constexpr std::string_view kName = "mipmapped array";
  ~Mipmap() override;
  std::shared_ptr<Context> context;
  CUmipmappedArray handle = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR description{};  // of the first level
  std::vector<CUarray> levels;
  MemoryCharge charge;
};

struct Array final : ObjectOf<Array, ObjectKind::array> {
  static constexpr std::string_view kName = "array";
  ~Array() override;
  std::shared_ptr<Context> context;
  std::shared_ptr<Mipmap> mipmap;  // whose level it is, and which frees it; null: it is its own
  CUarray handle = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR description{};  // of one that is its own
  MemoryCharge charge;
};

/// A texture object; `handle` may be any number once it is made.
struct Texture final : ObjectOf<Texture, ObjectKind::texture> {
  static constexpr std::string_view kName = "texture object";
  ~Texture() override;
  std::shared_ptr<Context> context;
  std::shared_ptr<Array> array;    // that it reads; null: other memory
  std::shared_ptr<Mipmap> mipmap;  // the same
  CUtexObject handle = 0;
  bool is_made = false;
};

struct Surface final : ObjectOf<Surface, ObjectKind::surface> {
  static constexpr std::string_view kName = "surface object";
  ~Surface() override;
  std::shared_ptr<Context> context;
  std::shared_ptr<Array> array;
  CUsurfObject handle = 0;
  bool is_made = false;
};

/// The result of a link on the slow lane.
struct LinkedImage {
  CUresult code = CUDA_ERROR_NOT_READY;
  std::string info_log, error_log;
  std::vector<std::byte> image;
  std::atomic<bool> done{false};  // release on the slow lane, acquire on the loop thread
};

struct Linked final : ObjectOf<Linked, ObjectKind::linked> {
  static constexpr std::string_view kName = "linked image";
  std::shared_ptr<LinkedImage> outcome;
};

}  // namespace fairgv::vgpu::cuda
