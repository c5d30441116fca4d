// Sends the callers of functions that a shared library exports elsewhere, by the library's own table of
// symbols: whoever finds the library, by whatever path, then finds the replacements in it.
//
// Why so, and not by a library of the same name that is found first: a Python wheel opens its own compiler by
// an absolute path, others lead to it by an RPATH, some rename the file. A stand-in would have to guess where
// the program would have found the real one, and would answer where there is none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/redirect/loaded_object.hpp"

namespace fairgv::redirect {

struct ExportedFunction {
  std::string_view name;
  std::uintptr_t entry = 0;     // where its entry in the table of symbols is loaded
  std::uintptr_t function = 0;  // where it is loaded
  std::uintptr_t replacement = 0;
};

/// The functions that the object exports under names that begin so. Reads the file, and believes nothing
/// that is not in memory as in the file.
std::vector<ExportedFunction> exported_functions(const LoadedObject& object, const ObjectFile& file,
                                                 std::span<const std::string_view> beginnings);

/// Makes every lookup from now on (dlsym(3), and relocations of objects that are loaded later) find the
/// replacements, and changes the references of `objects` that are bound to the functions already. The
/// object's own references stay. Called before any other thread can have the address of the functions or of
/// code that refers to them. Returns why nothing was changed, or nothing.
std::string replace_exports(const LoadedObject& object, const ObjectFile& file,
                            std::span<const ExportedFunction> functions,
                            std::span<const LoadedObject> objects);

}  // namespace fairgv::redirect
