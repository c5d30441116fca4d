// A program file's instructions for the dynamic linker, read by hand: any file may be given, and nothing in
// it is believed before it is checked against the file's size.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fairgv::tools {

struct ElfProgram {
  std::vector<std::string> needed;  // DT_NEEDED, as written
  std::string rpath;                // DT_RPATH: searched before LD_LIBRARY_PATH, unless there is a DT_RUNPATH
  std::string runpath;              // DT_RUNPATH: searched after it
  bool is_dynamic = false;          // it names a dynamic linker (PT_INTERP)
  bool has_cuda_code = false;       // nvcc's section of kernels for the runtime
};

/// Nothing if the file cannot be read or is no ELF file of this machine's kind: a script, for instance.
std::optional<ElfProgram> read_elf(const std::string& path);

}  // namespace fairgv::tools
