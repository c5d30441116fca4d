// One linking of nvJitLink, as the program asked for it, and the same for the software device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fairgv::jit {

/// nvJitLink.h of the releases 12 and 13: nvJitLinkResult is an int, nvJitLinkHandle a pointer. The functions
/// of one version of the interface (`nvJitLinkCreate`, or `__nvJitLinkCreate_12_4` and so on).
struct NvJitLink {
  int (*create)(void** link, unsigned count, const char** options) = nullptr;
  int (*destroy)(void** link) = nullptr;
  int (*add_data)(void* link, int type, const void* data, std::size_t size, const char* name) = nullptr;
  int (*add_file)(void* link, int type, const char* path) = nullptr;
  int (*complete)(void* link) = nullptr;
  int (*cubin_size)(void* link, std::size_t* size) = nullptr;
  int (*cubin)(void* link, void* bytes) = nullptr;
  int (*ptx_size)(void* link, std::size_t* size) = nullptr;
  int (*ptx)(void* link, char* bytes) = nullptr;
  int (*error_log_size)(void* link, std::size_t* size) = nullptr;
  int (*error_log)(void* link, char* bytes) = nullptr;
};

// nvJitLinkInputType.
inline constexpr int kLinkCubin = 1;
inline constexpr int kLinkPtx = 2;
inline constexpr int kLinkLtoIr = 3;
inline constexpr int kLinkFatbin = 4;
inline constexpr int kLinkObject = 5;
inline constexpr int kLinkLibrary = 6;
inline constexpr int kLinkAny = 10;

/// The type under which an input is to be added: PTX for a text that the program takes for machine code,
/// because NVRTC has handed it out as such.
int type_to_add(int type, const char* data, std::size_t size);

/// The inputs that the program has given to nvJitLink. Not for several threads at once, as nvJitLink's own
/// links.
class Link {
 public:
  Link(unsigned count, const char* const* options);

  void add(int type, std::string bytes, std::string name);
  /// Code that the software device can load, in place of the machine code: one PTX text with its zero, or
  /// what the driver has linked. Made once; null, and a line says why, if it cannot be made.
  const std::string* image(const NvJitLink& functions);

 private:
  struct Input {
    int type = 0;  // nvJitLinkInputType
    std::string bytes;
    std::string name;
  };

  bool has_option(const std::string& name) const;
  unsigned most_registers() const;  // 0: any number
  std::optional<std::string> make_image(const NvJitLink& functions, std::string& error) const;
  /// PTX of all inputs with code for link-time optimisation.
  std::optional<std::string> optimised(const NvJitLink& functions, std::string& error) const;

  std::vector<std::string> options_;
  std::vector<Input> inputs_;
  bool made_ = false;
  std::optional<std::string> image_;
};

}  // namespace fairgv::jit
