// The front end's half of a call from the table of signatures (runtime/wire/extension_signatures.hpp): the
// arguments, as libffi hands them over, become a message, and its reply goes where the out-arguments lead.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "icd/cl.hpp"
#include "runtime/wire/calls.hpp"
#include "runtime/wire/extension_cif.hpp"
#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::icd {

class Connection;

class ExtensionArguments {
 public:
  /// `arguments[i]` points to argument number i of the signature's type. Reads the memory behind the in- and
  /// out-arguments.
  ExtensionArguments(const wire::ExtensionSignature& signature, void* const* arguments);

  /// CL_SUCCESS; for an invalid handle the error of its kind (null is valid); CL_OUT_OF_RESOURCES if the
  /// pointers lead to more than kMostExtensionBytes.
  cl_int error() const { return error_; }

  /// The connection of the objects among the arguments; nullptr if there are none.
  Connection* connection() const { return connection_; }

  // For wire::CallExtension.
  std::span<const std::uint64_t> scalars() const { return scalars_; }
  std::span<const std::byte> contents() const { return contents_; }

  /// Writes the reply's `outputs` to the application's memory; false if they do not match the request.
  bool take(std::span<const std::byte> outputs) const;

 private:
  struct Output {
    void* to;
    std::size_t bytes;
  };

  cl_int add(const wire::Parameter& parameter, const void* argument);
  template <class Object>
  cl_int add_handle(const void* argument, cl_int error);
  cl_int add_pointer(const wire::Parameter& parameter, void* pointer);

  const wire::ExtensionSignature& signature_;
  void* const* arguments_;
  std::vector<std::uint64_t> scalars_;
  std::vector<std::byte> contents_;
  std::vector<Output> outputs_;
  Connection* connection_ = nullptr;
  cl_int error_ = CL_SUCCESS;
};

/// A function of a signature's type, made by libffi. The application may call the function at any time, so it
/// is never destroyed once its address was given away.
class ExtensionFunction {
 public:
  /// Has the function of that name called by the worker; nothing if the session is lost.
  using Deliver = std::function<std::optional<wire::ExtensionReply>(std::string_view function,
                                                                    const ExtensionArguments& arguments)>;

  ExtensionFunction(const wire::ExtensionSignature& signature, Deliver deliver);
  ~ExtensionFunction();
  ExtensionFunction(const ExtensionFunction&) = delete;
  ExtensionFunction& operator=(const ExtensionFunction&) = delete;

  /// nullptr if the system allows no code to be made.
  void* address() const { return code_; }

 private:
  static void called(ffi_cif*, void* result, void** arguments, void* self);
  cl_int call(void* const* arguments, std::uint64_t& returned) const;

  const wire::ExtensionSignature& signature_;
  const Deliver deliver_;
  wire::ExtensionCif cif_;
  ffi_closure* closure_ = nullptr;
  void* code_ = nullptr;
};

}  // namespace fairgv::icd
