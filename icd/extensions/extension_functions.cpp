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
  void* address;
};

std::span<const OwnFunction> own_functions() {
#define FAIRGV_OWN(function) {#function, reinterpret_cast<void*>(&function)},
#define FAIRGV_ALIAS(name, core) \
  { name, reinterpret_cast<void*>(dispatch_table().core) }
  static const OwnFunction functions[] = {
      FAIRGV_COMMAND_BUFFER_ENTRY_POINTS(FAIRGV_OWN)  //
      FAIRGV_ALIAS("clGetKernelSubGroupInfoKHR", clGetKernelSubGroupInfoKHR),
      FAIRGV_ALIAS("clCreateProgramWithILKHR", clCreateProgramWithIL),
      FAIRGV_ALIAS("clCreateCommandQueueWithPropertiesKHR", clCreateCommandQueueWithProperties),
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

/// FairGV's own function, whatever driver is underneath; a worker of an earlier release does not know it.
void* mark_function() {
  Connection* const connection = Connection::get_live();
  const bool known = connection != nullptr && connection->session().facts().takes_marks;
  return known ? reinterpret_cast<void*>(&clEnqueueMarkFAIRGV) : nullptr;
}

}  // namespace

void* extension_function(Platform& platform, std::string_view name) {
  if (name == "clEnqueueMarkFAIRGV") return mark_function();
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

bool has_entry_point(std::string_view name) {
  return find_own(name) != nullptr;
}

void forget_extension_functions() {
  std::construct_at(&answers());
}

}  // namespace fairgv::icd
