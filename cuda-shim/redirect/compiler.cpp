#include "cuda-shim/redirect/compiler.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/redirect/compiler_functions.hpp"
#include "cuda-shim/redirect/exported_functions.hpp"
#include "cuda-shim/redirect/say.hpp"
#include "cuda-shim/redirect/sibling.hpp"

namespace fairgv::redirect {
namespace {

constexpr std::array<std::string_view, 3> kBeginnings{"nvrtc", "nvJitLink", "__nvJitLink"};
// Names that NVIDIA's libraries all have; other libraries may export names that begin so.
constexpr std::array<std::string_view, 2> kCertain{"nvrtcCompileProgram", "nvJitLinkVersion"};

/// A function of libfairgv-jit.so; null, and a line says why, if it is not there.
void* jit_function(const char* name, const std::string& caller) {
  std::string error;
  void* const library = open_sibling("libfairgv-jit.so", error);
  void* const function = library != nullptr ? ::dlsym(library, name) : nullptr;
  if (function == nullptr) {
    say(caller +
        " makes machine code, which the software device cannot run, and what makes it PTX cannot be "
        "loaded: " +
        error);
  }
  return function;
}

bool is_compiler(const ElfImage& image) {
  bool found = false;
  image.for_each_symbol(SHT_DYNSYM, [&](const Symbol& symbol) {
    found = found || (symbol.is_defined() &&
                      std::find(kCertain.begin(), kCertain.end(), symbol.name) != kCertain.end());
  });
  return found;
}

}  // namespace

void redirect_compiler(const LoadedObject& object, const ObjectFile& file,
                       std::span<const LoadedObject> objects) {
  if (!is_compiler(file.image())) return;
  const std::vector<ExportedFunction> exported = exported_functions(object, file, kBeginnings);
  if (exported.empty()) return;
  const auto replace = reinterpret_cast<ReplaceCompiler>(jit_function(kReplaceCompiler, object.path));
  if (replace == nullptr) return;
  std::vector<std::string> names;
  names.reserve(exported.size());
  std::vector<CompilerFunction> functions;
  for (const ExportedFunction& function : exported) {
    names.emplace_back(function.name);
    functions.push_back({names.back().c_str(), reinterpret_cast<void*>(function.function), nullptr});
  }
  replace(functions.data(), functions.size());
  std::vector<ExportedFunction> replaced;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].replacement == nullptr) continue;
    replaced.push_back(exported[i]);
    replaced.back().replacement = reinterpret_cast<std::uintptr_t>(functions[i].replacement);
  }
  if (replaced.empty()) return;
  // libfairgv-jit.so has its addresses from now on.
  if (::dlopen(object.path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) (void)::dlerror();
  if (const std::string error = replace_exports(object, file, replaced, objects); !error.empty())
    say(object.path + " makes machine code, which the software device cannot run, because " + error);
}

void redirect_nvcc(char** arguments) {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || arguments == nullptr) return;
  path.resize(static_cast<std::size_t>(length));
  if (path.substr(path.find_last_of('/') + 1) != "nvcc") return;
  if (const auto run = reinterpret_cast<RunNvcc>(jit_function(kRunNvcc, path))) run(arguments);
}

}  // namespace fairgv::redirect
