// The description that libffi needs to call, or to be, a function of the table of signatures.
#pragma once

#include <ffi.h>

#include <array>

#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::wire {

/// The C type of a signature. libffi keeps pointers into it, so it stays where it is.
class ExtensionCif {
 public:
  explicit ExtensionCif(const ExtensionSignature& signature) {
    for (std::size_t i = 0; i < signature.count; ++i) types_.at(i) = type_of(signature.all.at(i));
    ready_ = ffi_prep_cif(&cif_, FFI_DEFAULT_ABI, static_cast<unsigned>(signature.count),
                          type_of(signature.returns), types_.data()) == FFI_OK;
  }
  ExtensionCif(const ExtensionCif&) = delete;
  ExtensionCif& operator=(const ExtensionCif&) = delete;

  /// nullptr if libffi cannot do it; it can, for every type that a signature can name.
  ffi_cif* get() { return ready_ ? &cif_ : nullptr; }

 private:
  static ffi_type* type_of(const Parameter& parameter) {
    if (parameter.kind == ParameterKind::u32) return &ffi_type_uint32;
    return parameter.kind == ParameterKind::u64 ? &ffi_type_uint64 : &ffi_type_pointer;
  }
  static ffi_type* type_of(ReturnKind returns) {
    switch (returns) {
      case ReturnKind::error:
        return &ffi_type_sint32;
      case ReturnKind::u64:
        return &ffi_type_uint64;
      case ReturnKind::nothing:
        break;
    }
    return &ffi_type_void;
  }

  ffi_cif cif_{};
  std::array<ffi_type*, kMostParameters> types_{};
  bool ready_ = false;
};

}  // namespace fairgv::wire
