// Every served entry point, called with handles that are null, made up, gone or right, and with pointers that
// are null or point to zeros. None may crash, and a handle that stands for nothing is an error.
#define __CUDA_API_VERSION_INTERNAL
#include <cudaProfiler.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <set>
#include <string_view>
#include <type_traits>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

enum class Handles { null, wild, gone, right };
enum class Pointers { null, zeros };

/// One way to call every function.
struct Way {
  Handles handles = Handles::null;
  Pointers pointers = Pointers::null;
  unsigned number = 0;      // every integer
  CUdeviceptr address = 0;  // every address of the device
};

template <typename Type, typename = void>
struct IsComplete : std::false_type {};
template <typename Type>
struct IsComplete<Type, std::void_t<decltype(sizeof(Type))>> : std::true_type {};

/// Handles are pointers to types that cuda.h only names.
template <typename Type>
constexpr bool is_handle() {
  if constexpr (std::is_pointer_v<Type>) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<Type>>;
    return std::is_class_v<Pointee> && !IsComplete<Pointee>::value;
  }
  return false;
}
/// A null handle of these types has a meaning of its own.
template <typename Type>
constexpr bool means_default() {
  return std::is_same_v<Type, CUstream> || std::is_same_v<Type, CUcontext>;
}

/// Zeros that calls may read and write; handles in it are null.
alignas(64) std::byte g_zeros[1 << 16];
/// What a call may take for a handle but is none.
alignas(64) std::byte g_garbage[4096];

/// Living and dead objects of the kinds that calls take.
struct Objects {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  CUarray array = nullptr;
  CUmemoryPool pool = nullptr;

  void make() {
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuEventCreate(&event, 0));
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    EXPECT_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    CUDA_ARRAY_DESCRIPTOR of_array{};
    of_array.Width = 4;
    of_array.Format = CU_AD_FORMAT_FLOAT;
    of_array.NumChannels = 1;
    EXPECT_OK(cuArrayCreate_v2(&array, &of_array));
    CUmemPoolProps of_pool{};
    of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    of_pool.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_OK(cuMemPoolCreate(&pool, &of_pool));
  }
  /// The calls may have ended them before.
  void end() const {
    cuStreamDestroy_v2(stream);
    cuEventDestroy_v2(event);
    cuGraphExecDestroy(executable);
    cuGraphDestroy(graph);
    cuArrayDestroy(array);
    cuMemPoolDestroy(pool);
  }
  template <typename Handle>
  Handle of_type() const {
    if constexpr (std::is_same_v<Handle, CUcontext>)
      return context;
    else if constexpr (std::is_same_v<Handle, CUmodule>)
      return module;
    else if constexpr (std::is_same_v<Handle, CUfunction>)
      return function;
    else if constexpr (std::is_same_v<Handle, CUlibrary>)
      return library;
    else if constexpr (std::is_same_v<Handle, CUkernel>)
      return kernel;
    else if constexpr (std::is_same_v<Handle, CUstream>)
      return stream;
    else if constexpr (std::is_same_v<Handle, CUevent>)
      return event;
    else if constexpr (std::is_same_v<Handle, CUgraph>)
      return graph;
    else if constexpr (std::is_same_v<Handle, CUgraphNode>)
      return node;
    else if constexpr (std::is_same_v<Handle, CUgraphExec>)
      return executable;
    else if constexpr (std::is_same_v<Handle, CUarray>)
      return array;
    else if constexpr (std::is_same_v<Handle, CUmemoryPool>)
      return pool;
    else
      return nullptr;
  }
};

struct Calls {
  Way way;
  Objects right, gone;
};

template <typename Result, typename... Arguments>
struct DoNothing {
  static Result CUDA_CB call(Arguments...) { return Result(); }
};
template <typename Result, typename... Arguments>
auto do_nothing(Result(CUDA_CB*)(Arguments...)) {
  return &DoNothing<Result, Arguments...>::call;
}

template <typename Type>
Type argument(const Calls& calls) {
  const Way& way = calls.way;
  if constexpr (is_handle<Type>()) {
    switch (way.handles) {
      case Handles::null:
        return nullptr;
      case Handles::wild:
        return reinterpret_cast<Type>(g_garbage);
      case Handles::gone:
        return calls.gone.of_type<Type>();
      case Handles::right:
        return calls.right.of_type<Type>();
    }
    return nullptr;
  } else if constexpr (std::is_pointer_v<Type> && std::is_function_v<std::remove_pointer_t<Type>>) {
    return way.pointers == Pointers::null ? nullptr : do_nothing(Type{});
  } else if constexpr (std::is_pointer_v<Type>) {
    return way.pointers == Pointers::null ? nullptr : reinterpret_cast<Type>(g_zeros);
  } else if constexpr (std::is_same_v<Type, CUdeviceptr>) {
    // Sizes have the same type as addresses on no system of CUDA: std::size_t is unsigned long.
    return way.address;
  } else if constexpr (std::is_arithmetic_v<Type>) {
    return static_cast<Type>(way.number);
  } else {
    return Type{};
  }
}

struct Entry {
  const char* name;
  CUresult (*call)(const Calls&);
  bool takes_handles;
  bool takes_handles_that_must_be;  // of which none has a meaning when it is null
};

template <auto function>
struct Caller;
template <typename... Arguments, CUresult(CUDAAPI* function)(Arguments...)>
struct Caller<function> {
  static CUresult call([[maybe_unused]] const Calls& calls) {
    return function(argument<Arguments>(calls)...);
  }
  static constexpr bool takes_handles = (is_handle<Arguments>() || ...);
  static constexpr bool takes_handles_that_must_be =
      ((is_handle<Arguments>() && !means_default<Arguments>()) || ...);
};

const Entry kServed[] = {
#define FAIRGV_ROW_false(symbol)
#define FAIRGV_ROW_true(symbol)                                     \
  {#symbol, &Caller<&symbol>::call, Caller<&symbol>::takes_handles, \
   Caller<&symbol>::takes_handles_that_must_be},
#define FAIRGV_ENTRY(symbol, name, stream, version, served) FAIRGV_ROW_##served(symbol)
#include "cuda-shim/api/entry/entry_points.def"
#undef FAIRGV_ENTRY
};

const char* volatile g_calling = "";
void report_crash(int signal) {
  const char* const name = g_calling;
  const char text[] = "crashed in ";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  (void)!write(STDERR_FILENO, name, std::strlen(name));
  (void)!write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class HandlesTest : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    std::memset(g_garbage, 0x5a, sizeof g_garbage);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, report_crash);
    calls_.right.context = context_;
    calls_.right.module = module_;
    calls_.right.function = function("increment");
    ASSERT_OK(cuLibraryLoadFromFile(&calls_.right.library, file_path("kernels.ptx").c_str(), nullptr, nullptr,
                                    0, nullptr, nullptr, 0));
    ASSERT_OK(cuLibraryGetKernel(&calls_.right.kernel, calls_.right.library, "increment"));
    // In this order: a handle that is gone may be given again.
    calls_.right.make();
    make_gone();
  }
  void TearDown() override {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
    calls_.right.end();
    WithModule::TearDown();
  }

  void make_gone() {
    CUcontext lost = nullptr;
    Objects& gone = calls_.gone;
    ASSERT_OK(cuCtxCreate_v2(&gone.context, 0, device_));
    gone.make();
    ASSERT_OK(cuModuleLoad(&gone.module, file_path("kernels.ptx").c_str()));
    ASSERT_OK(cuModuleGetFunction(&gone.function, gone.module, "increment"));
    ASSERT_OK(cuLibraryLoadFromFile(&gone.library, file_path("kernels.ptx").c_str(), nullptr, nullptr, 0,
                                    nullptr, nullptr, 0));
    ASSERT_OK(cuLibraryGetKernel(&gone.kernel, gone.library, "increment"));
    ASSERT_OK(cuLibraryUnload(gone.library));
    gone.end();
    ASSERT_OK(cuCtxDestroy_v2(gone.context));
    ASSERT_OK(cuCtxGetCurrent(&lost));
    ASSERT_EQ(context_, lost);
  }

  CUresult call(const Entry& entry, const Way& way) {
    calls_.way = way;
    std::memset(g_zeros, 0, sizeof g_zeros);
    g_calling = entry.name;
    const CUresult code = entry.call(calls_);
    g_calling = "the test itself";
    // What a call may have left behind.
    CUgraph captured = nullptr;
    for (CUstream stream : {CUstream{CU_STREAM_PER_THREAD}, calls_.right.stream})
      cuStreamEndCapture(stream, &captured);
    cuMemHostUnregister(g_zeros);
    empty_stack();
    cuCtxPushCurrent_v2(context_);
    return code;
  }

  /// With the contexts that a call has made.
  void empty_stack() const {
    for (CUcontext popped = nullptr; cuCtxPopCurrent_v2(&popped) == CUDA_SUCCESS;) {
      if (popped != context_) cuCtxDestroy_v2(popped);
    }
  }

  Calls calls_;
};

TEST_F(HandlesTest, HandlesThatStandForNothingAreErrors) {
  for (const Entry& entry : kServed) {
    if (!entry.takes_handles) continue;
    for (const Handles handles : {Handles::null, Handles::wild, Handles::gone}) {
      if (handles == Handles::null && !entry.takes_handles_that_must_be) continue;
      for (const Pointers pointers : {Pointers::null, Pointers::zeros}) {
        for (const unsigned number : {0u, 1u}) {
          EXPECT_NE(CUDA_SUCCESS, call(entry, {handles, pointers, number, 0}))
              << entry.name << ", handles " << static_cast<int>(handles) << ", pointers "
              << static_cast<int>(pointers) << ", numbers " << number;
        }
      }
    }
  }
}

TEST_F(HandlesTest, NoCallCrashes) {
  // Each would take from the test what it needs for the rest.
  const std::set<std::string> kNotOnRightHandles = {"cuModuleUnload", "cuLibraryUnload", "cuCtxDestroy",
                                                    "cuCtxDestroy_v2", "cuCtxDetach"};
  for (const Entry& entry : kServed) {
    for (const Handles handles : {Handles::null, Handles::right}) {
      if (handles == Handles::right && kNotOnRightHandles.contains(entry.name)) continue;
      for (const Pointers pointers : {Pointers::null, Pointers::zeros}) {
        for (const unsigned number : {0u, 1u, 4096u}) {
          for (const bool has_address : {false, true}) {
            // Nobody writes what a stream would wait for.
            if (has_address && std::string_view(entry.name).starts_with("cuStreamWaitValue")) continue;
            calls_.right.end();
            calls_.right.make();
            CUdeviceptr address = 0;
            if (has_address) {
              ASSERT_OK(cuMemAlloc_v2(&address, 4096));
            }
            call(entry, {handles, pointers, number, address});
            if (has_address) cuMemFree_v2(address);
          }
        }
      }
    }
  }
  // The context is as good as before.
  EXPECT_OK(cuCtxSynchronize());
}

}  // namespace
