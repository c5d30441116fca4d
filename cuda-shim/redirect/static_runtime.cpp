#include "cuda-shim/redirect/static_runtime.hpp"

#include <algorithm>
#include <array>

#include "cuda-shim/redirect/jump.hpp"

namespace fairgv::redirect {
namespace {

// All internal names of libcudart_static.a begin so, in the releases 12 and 13.
constexpr std::string_view kInternalPrefix = "libcudart_static_";

bool is_name_of_runtime(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("__cuda");
}

const RuntimeFunction* find(const std::vector<RuntimeFunction>& functions, std::string_view name) {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const RuntimeFunction& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

struct Symbols {
  std::vector<Symbol> named;          // functions with a name as the runtime's have
  std::vector<std::uint64_t> starts;  // where any code begins, in order
  bool has_internal_names = false;
};

Symbols read_symbols(const ElfImage& image) {
  Symbols symbols;
  image.for_each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
    const Section* const section = symbol.is_defined() ? image.section(symbol.section) : nullptr;
    if (section == nullptr) return;
    if (symbol.name.starts_with(kInternalPrefix)) symbols.has_internal_names = true;
    if (!section->holds_code()) return;
    symbols.starts.push_back(symbol.address);
    // A runtime that is exported is a shared library: programs find ours in its place.
    if (symbol.is_function() && symbol.is_internal() && is_name_of_runtime(symbol.name))
      symbols.named.push_back(symbol);
  });
  std::sort(symbols.starts.begin(), symbols.starts.end());
  return symbols;
}

/// The function's bytes and the padding behind it, up to the next symbol or the end of the section.
Bytes code_of(const ElfImage& image, const Symbols& symbols, const Symbol& symbol) {
  const Bytes own = image.code(symbol.address, symbol.size);
  if (own.empty()) return {};
  const Section& section = *image.section(symbol.section);
  const auto next = std::upper_bound(symbols.starts.begin(), symbols.starts.end(), symbol.address);
  const std::uint64_t section_end = section.address + section.bytes.size();
  const std::uint64_t end = next == symbols.starts.end() ? section_end : std::min(*next, section_end);
  if (end <= symbol.address + symbol.size)
    return own.first(end > symbol.address ? std::min<std::size_t>(own.size(), end - symbol.address) : 0);
  const Bytes behind = image.code(symbol.address + symbol.size, end - symbol.address - symbol.size);
  return image.code(symbol.address, symbol.size + padding_length(behind));
}

#if defined(__x86_64__)
// mov dword [rdi], imm32: how the runtime answers its version.
std::optional<std::uint32_t> version_stored_by(Bytes code) {
  constexpr std::size_t kSize = 6;
  for (std::size_t at = 0; at + kSize <= code.size(); ++at) {
    if (code[at] != std::byte{0xc7} || code[at + 1] != std::byte{0x07}) continue;
    std::uint32_t value = 0;
    std::memcpy(&value, code.data() + at + 2, sizeof value);
    if (value >= 1000 && value < 100'000 && value % 10 == 0) return value;
  }
  return std::nullopt;
}

/// The version that cudaRuntimeGetVersion answers, in its own code or in that of a function that it calls.
std::optional<std::uint32_t> version_of(const ElfImage& image,
                                        const std::vector<RuntimeFunction>& functions) {
  const RuntimeFunction* const asked = find(functions, "cudaRuntimeGetVersion");
  if (asked == nullptr) return std::nullopt;
  if (const auto version = version_stored_by(asked->code)) return version;
  constexpr std::size_t kCallSize = 5;
  constexpr std::uint64_t kEnough = 32;
  for (std::size_t at = 0; at + kCallSize <= asked->code.size(); ++at) {
    if (asked->code[at] != std::byte{0xe8}) continue;  // call rel32
    std::int32_t distance = 0;
    std::memcpy(&distance, asked->code.data() + at + 1, sizeof distance);
    const std::uint64_t called =
        asked->address + at + kCallSize + static_cast<std::uint64_t>(std::int64_t{distance});
    if (const auto version = version_stored_by(image.code(called, kEnough))) return version;
  }
  return std::nullopt;
}
#else
std::optional<std::uint32_t> version_of(const ElfImage&, const std::vector<RuntimeFunction>&) {
  return std::nullopt;
}
#endif

/// A runtime without symbols shows by two of its texts. They are looked for only where they can be: strip
/// leaves the table of section headers and the dynamic symbols, and the runtime finds the driver by
/// dlopen(3) and dlsym(3). Objects that import neither are most, and cost nothing here.
bool has_texts_of_runtime(const ElfImage& image) {
  constexpr std::string_view kErrorText = "CUDA driver version is insufficient for CUDA runtime version";
  constexpr std::string_view kDriver = "libcuda.so.1";
  bool opens = false;
  bool looks_up = false;
  bool exports = false;
  image.for_each_symbol(SHT_DYNSYM, [&](const Symbol& symbol) {
    if (symbol.is_defined()) {
      exports = exports || symbol.name == "cudaRuntimeGetVersion";
    } else {
      opens = opens || symbol.name == "dlopen";
      looks_up = looks_up || symbol.name == "dlsym";
    }
  });
  if (exports || !opens || !looks_up || image.needs("libcudart.so")) return false;
  const Section* const texts = image.section_named(".rodata");
  if (texts == nullptr) return false;
  // A broken file's section can be empty and without an address: string_view's find() takes that, memmem() not.
  const std::string_view bytes(reinterpret_cast<const char*>(texts->bytes.data()), texts->bytes.size());
  return bytes.find(kErrorText) != std::string_view::npos && bytes.find(kDriver) != std::string_view::npos;
}

}  // namespace

int release_of(const std::vector<RuntimeFunction>& functions, std::optional<std::uint32_t> version) {
  // The whole runtime is linked in, so that what is missing is not in the release. CUDA 12.0 brought the new
  // structure of device properties with a name of its own, and CUDA 13 dropped that name together with the
  // functions of threads, which all earlier releases have.
  const bool has_properties_of_12 = find(functions, "cudaGetDeviceProperties_v2") != nullptr;
  const bool has_thread_functions = find(functions, "cudaThreadSynchronize") != nullptr;
  int release = 0;
  if (has_properties_of_12 && has_thread_functions) release = 12;
  if (!has_properties_of_12 && !has_thread_functions) release = 13;
  // The names cannot tell of releases to come; the version can.
  if (version && static_cast<int>(*version / 1000) != release) return 0;
  return release;
}

StaticRuntime find_static_runtime(const ElfImage& image) {
  StaticRuntime runtime;
  const Symbols symbols = read_symbols(image);
  for (const Symbol& symbol : symbols.named)
    runtime.functions.push_back({symbol.name, symbol.address, code_of(image, symbols, symbol)});
  std::sort(runtime.functions.begin(), runtime.functions.end(),
            [](const RuntimeFunction& a, const RuntimeFunction& b) { return a.address < b.address; });
  const bool has_functions = find(runtime.functions, "__cudaRegisterFatBinary") != nullptr &&
                             find(runtime.functions, "cudaRuntimeGetVersion") != nullptr;
  if (!symbols.has_internal_names || !has_functions) {
    runtime.functions.clear();
    if (has_texts_of_runtime(image)) runtime.kind = StaticRuntime::Kind::kStripped;
    return runtime;
  }
  runtime.release = release_of(runtime.functions, version_of(image, runtime.functions));
  runtime.kind = runtime.release == 0 ? StaticRuntime::Kind::kUnknown : StaticRuntime::Kind::kFound;
  return runtime;
}

}  // namespace fairgv::redirect
