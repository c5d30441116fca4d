#include "icd/extensions/extension_functions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "icd/api/api.hpp"
#include "icd/extensions/extension_call.hpp"
#include "icd/objects/platform.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {
namespace {

// ---- functions that are entry points of ours

struct OwnFunction {
  std::string_view name;
  std::string_view extension;
  void* address;
};

std::span<const OwnFunction> own_functions() {
#define FAIRGV_OWN(function) {#function, "cl_khr_command_buffer", reinterpret_cast<void*>(&function)},
#define FAIRGV_ALIAS(name, extension, core) \
  { name, extension, reinterpret_cast<void*>(dispatch_table().core) }
  // An extension is passed on if it is named here: with all of its functions, as in the table of signatures.
  static const OwnFunction functions[] = {
      FAIRGV_COMMAND_BUFFER_ENTRY_POINTS(FAIRGV_OWN)  //
      FAIRGV_ALIAS("clGetKernelSubGroupInfoKHR", "cl_khr_subgroups", clGetKernelSubGroupInfoKHR),
      FAIRGV_ALIAS("clCreateProgramWithILKHR", "cl_khr_il_program", clCreateProgramWithIL),
      FAIRGV_ALIAS("clCreateCommandQueueWithPropertiesKHR", "cl_khr_create_command_queue",
                   clCreateCommandQueueWithProperties),
  };
#undef FAIRGV_ALIAS
#undef FAIRGV_OWN
  return functions;
}

const OwnFunction* find_own(std::string_view name) {
  const auto functions = own_functions();
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [name](const OwnFunction& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

// ---- answers, remembered

struct Answers {
  std::mutex mutex;
  std::map<std::pair<wire::PlatformIndex, std::string>, void*> addresses;
  std::vector<std::unique_ptr<ExtensionFunction>> made;
};

Answers& answers() {
  static auto* const instance = new Answers;  // outlives static destructors: the application may still call
  return *instance;
}

/// Nothing if the session is lost.
std::optional<bool> driver_has(const Platform& platform, std::string_view name) {
  Connection* const connection = Connection::get_live();
  if (connection == nullptr) return std::nullopt;
  const auto reply = connection->call(wire::FindExtensionFunction{platform.index(), name});
  if (!reply) return std::nullopt;
  return reply->error == CL_SUCCESS;
}

std::unique_ptr<ExtensionFunction> make_function(wire::PlatformIndex platform,
                                                 const wire::ExtensionSignature& signature) {
  return std::make_unique<ExtensionFunction>(
      signature,
      [platform](std::string_view name,
                 const ExtensionArguments& arguments) -> std::optional<wire::ExtensionReply> {
        Connection* const own = arguments.connection();
        Connection* const connection = own != nullptr ? own : Connection::get_live();
        if (connection == nullptr) return std::nullopt;
        return connection->call(
            wire::CallExtension{platform, name, arguments.scalars(), arguments.contents()});
      });
}

}  // namespace

void* extension_function(Platform& platform, std::string_view name) {
  const OwnFunction* const own = find_own(name);
  const wire::ExtensionSignature* const signature = wire::find_signature(name);
  if (own == nullptr && signature == nullptr) return nullptr;

  Answers& known = answers();
  const std::lock_guard lock(known.mutex);
  const std::pair key(platform.index(), std::string(name));
  if (const auto found = known.addresses.find(key); found != known.addresses.end()) return found->second;
  const auto has = driver_has(platform, name);
  if (!has) return nullptr;
  void* address = nullptr;
  if (*has) {
    address = own != nullptr
                  ? own->address
                  : known.made.emplace_back(make_function(platform.index(), *signature))->address();
  }
  known.addresses.emplace(key, address);
  return address;
}

bool extension_functions_are_served(std::string_view extension) {
  const auto names_it = [extension](const auto& function) { return function.extension == extension; };
  const auto own = own_functions();
  return std::any_of(own.begin(), own.end(), names_it) ||
         std::any_of(wire::kExtensionSignatures.begin(), wire::kExtensionSignatures.end(), names_it);
}

void forget_extension_functions() {
  std::construct_at(&answers());
}

}  // namespace fairgv::icd
