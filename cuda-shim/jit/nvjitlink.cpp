// nvJitLink links as it is told, so that options, logs and errors are its own. What it is given is kept
// beside, and what the software device can load is made of that when the machine code is asked for.
#include "cuda-shim/jit/nvjitlink.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cuda-shim/jit/device.hpp"
#include "cuda-shim/jit/functions.hpp"
#include "cuda-shim/jit/link.hpp"
#include "cuda-shim/redirect/say.hpp"

namespace fairgv::jit {
namespace {

/// All links that make machine code for the software device.
class Links {
 public:
  void add(void* handle, std::shared_ptr<Link> link) {
    const std::lock_guard guard(lock_);
    links_[handle] = std::move(link);
  }
  /// Null for a link that is nvJitLink's alone.
  std::shared_ptr<Link> find(void* handle) {
    const std::lock_guard guard(lock_);
    const auto found = links_.find(handle);
    return found != links_.end() ? found->second : nullptr;
  }
  void remove(void* handle) {
    const std::lock_guard guard(lock_);
    links_.erase(handle);
  }

 private:
  std::mutex lock_;
  std::unordered_map<void*, std::shared_ptr<Link>> links_;
};

/// Never destroyed: exit handlers of programs may come back.
Links& links() {
  static auto* const all = new Links;
  return *all;
}

/// Carries out what may run out of memory beside the call itself, which stands.
template <typename Body>
void beside(const Body& body) noexcept {
  try {
    body();
  } catch (...) {
    redirect::say("memory has run out in nvJitLink: what it makes cannot run on the software device");
  }
}

bool makes_machine_code(unsigned count, const char** options) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] != nullptr && std::strcmp(options[i], "-ptx") == 0) return false;
  }
  return count > 0;
}

// A version's functions are written before its replacements can be found, under the dynamic linker's lock.
// Libraries are never closed, and have up to a dozen versions of the interface each.
constexpr std::size_t kMostVersions = 48;
std::array<NvJitLink, kMostVersions> versions;

template <std::size_t kVersion>
struct InFront {
  static const NvJitLink& functions() { return versions[kVersion]; }

  static int create(void** handle, unsigned count, const char** options) noexcept {
    const int code = functions().create(handle, count, options);
    beside([&] {
      if (code == kSuccess && makes_machine_code(count, options) && is_software_device())
        links().add(*handle, std::make_shared<Link>(count, options));
    });
    return code;
  }

  static int destroy(void** handle) noexcept {
    // Before the handle's address can be another link's.
    if (handle != nullptr) links().remove(*handle);
    return functions().destroy(handle);
  }

  static int add_data(void* handle, int type, const void* data, std::size_t size, const char* name) noexcept {
    const auto link = links().find(handle);
    const auto* const bytes = static_cast<const char*>(data);
    if (link != nullptr) type = type_to_add(type, bytes, size);
    const int code = functions().add_data(handle, type, data, size, name);
    if (link != nullptr && code == kSuccess)
      beside([&] { link->add(type, {bytes, size}, name != nullptr ? name : ""); });
    return code;
  }

  static int add_file(void* handle, int type, const char* path) noexcept {
    const auto link = links().find(handle);
    if (link == nullptr || path == nullptr) return functions().add_file(handle, type, path);
    std::string bytes;
    beside([&] {
      std::ifstream file(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    });
    type = type_to_add(type, bytes.data(), bytes.size());
    const int code = functions().add_file(handle, type, path);
    if (code == kSuccess) beside([&] { link->add(type, std::move(bytes), path); });
    return code;
  }

  static int cubin_size(void* handle, std::size_t* size) noexcept {
    const int code = functions().cubin_size(handle, size);
    if (const std::string* const image = code == kSuccess ? image_of(handle) : nullptr) *size = image->size();
    return code;
  }

  static int cubin(void* handle, void* bytes) noexcept {
    const std::string* const image = bytes != nullptr ? image_of(handle) : nullptr;
    if (image == nullptr) return functions().cubin(handle, bytes);
    std::size_t size = 0;
    const int code = functions().cubin_size(handle, &size);
    if (code == kSuccess) std::memcpy(bytes, image->data(), image->size());
    return code;
  }

 private:
  /// Lives as long as the link.
  static const std::string* image_of(void* handle) noexcept {
    const std::string* image = nullptr;
    beside([&] {
      if (const auto link = links().find(handle)) image = link->image(functions());
    });
    return image;
  }
};

struct LinkReplacement {
  const char* name;
  void* function;
};
using OfVersion = std::array<LinkReplacement, 6>;

template <std::size_t... kVersion>
std::array<OfVersion, sizeof...(kVersion)> link_replacements(std::index_sequence<kVersion...>) {
  const auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  return {{OfVersion{{{"Create", address(InFront<kVersion>::create)},
                      {"Destroy", address(InFront<kVersion>::destroy)},
                      {"AddData", address(InFront<kVersion>::add_data)},
                      {"AddFile", address(InFront<kVersion>::add_file)},
                      {"GetLinkedCubinSize", address(InFront<kVersion>::cubin_size)},
                      {"GetLinkedCubin", address(InFront<kVersion>::cubin)}}}...}};
}

/// The functions of the version whose names begin and end so; false if it has not all that are needed.
bool find_version(std::span<redirect::CompilerFunction> functions, const std::string& before,
                  const std::string& behind, NvJitLink& found) {
  const auto find = [&](const char* name, auto*& original) {
    return find_original(functions, before + name + behind, original);
  };
  // The first releases have no PTX to hand out.
  (void)find("GetLinkedPtxSize", found.ptx_size);
  (void)find("GetLinkedPtx", found.ptx);
  return find("Create", found.create) && find("Destroy", found.destroy) && find("AddData", found.add_data) &&
         find("AddFile", found.add_file) && find("Complete", found.complete) &&
         find("GetLinkedCubinSize", found.cubin_size) && find("GetLinkedCubin", found.cubin) &&
         find("GetErrorLogSize", found.error_log_size) && find("GetErrorLog", found.error_log);
}

}  // namespace

void replace_nvjitlink(std::span<redirect::CompilerFunction> functions) {
  static std::size_t used = 0;  // under the dynamic linker's lock
  static const auto replacements = link_replacements(std::make_index_sequence<kMostVersions>());
  constexpr std::string_view kCreate = "nvJitLinkCreate";
  for (const redirect::CompilerFunction& function : functions) {
    const std::string_view name = function.name;
    const auto at = name.find(kCreate);
    if (at == std::string_view::npos) continue;
    const std::string before(name.substr(0, at + kCreate.size() - std::string_view("Create").size()));
    const std::string behind(name.substr(at + kCreate.size()));
    NvJitLink found;
    if (!find_version(functions, before, behind, found)) continue;
    if (used == kMostVersions) {
      redirect::say("the process has too many nvJitLink libraries: what " + std::string(name) +
                    " makes cannot run on the software device");
      return;
    }
    versions[used] = found;
    for (const LinkReplacement& replacement : replacements[used])
      find_function(functions, before + replacement.name + behind)->replacement = replacement.function;
    ++used;
  }
}

}  // namespace fairgv::jit
