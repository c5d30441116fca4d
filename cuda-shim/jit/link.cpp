#include "cuda-shim/jit/link.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "cuda-shim/jit/device.hpp"
#include "cuda-shim/jit/functions.hpp"
#include "cuda-shim/jit/ptx_text.hpp"
#include "cuda-shim/redirect/say.hpp"

namespace fairgv::jit {
namespace {

std::string without_zeros(std::string text) {
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::string log_of(const NvJitLink& functions, void* link) {
  std::size_t size = 0;
  if (functions.error_log_size(link, &size) != kSuccess || size == 0) return {};
  std::string log(size, '\0');
  if (functions.error_log(link, log.data()) != kSuccess) return {};
  log = without_zeros(std::move(log));
  return log.substr(0, log.find('\n'));
}

/// The Driver API's number of a type; nothing for what it has no number for.
std::optional<int> driver_type(int type) {
  switch (type) {
    case kLinkCubin:
      return kCubinInput;
    case kLinkPtx:
      return kPtxInput;
    case kLinkFatbin:
      return kFatbinInput;
    case kLinkObject:
      return kObjectInput;
    case kLinkLibrary:
      return kLibraryInput;
    default:
      return std::nullopt;
  }
}

/// The kind of the bytes, for an input of any type.
int recognised(int type, std::string_view bytes) {
  constexpr std::string_view kFatbinMagic = "\x50\xed\x55\xba";
  if (type != kLinkAny) return type;
  if (is_ptx(bytes)) return kLinkPtx;
  if (bytes.starts_with(kFatbinMagic)) return kLinkFatbin;
  if (bytes.starts_with("!<arch>\n")) return kLinkLibrary;
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return kLinkObject;
  return kLinkLtoIr;
}

}  // namespace

int type_to_add(int type, const char* data, std::size_t size) {
  return type == kLinkCubin && data != nullptr && is_ptx({data, size}) ? kLinkPtx : type;
}

Link::Link(unsigned count, const char* const* options) : options_(options, options + count) {}

void Link::add(int type, std::string bytes, std::string name) {
  type = recognised(type, bytes);
  if (type == kLinkPtx) bytes = without_zeros(std::move(bytes));
  inputs_.push_back({type, std::move(bytes), std::move(name)});
}

bool Link::has_option(const std::string& name) const {
  return std::find(options_.begin(), options_.end(), name) != options_.end();
}

unsigned Link::most_registers() const {
  constexpr std::string_view kOption = "-maxrregcount=";
  unsigned most = 0;
  for (const std::string& option : options_) {
    if (option.starts_with(kOption))
      std::from_chars(option.data() + kOption.size(), option.data() + option.size(), most);
  }
  return most;
}

const std::string* Link::image(const NvJitLink& functions) {
  if (!made_) {
    made_ = true;
    std::string error;
    image_ = make_image(functions, error);
    if (!image_)
      redirect::say(
          "nvJitLink's machine code cannot run on the software device, and there is no PTX in its place: " +
          error);
  }
  return image_ ? &*image_ : nullptr;
}

std::optional<std::string> Link::make_image(const NvJitLink& functions, std::string& error) const {
  std::vector<LinkInput> parts;
  bool has_optimised = false;
  const bool optimises = has_option("-lto") || has_option("-dlto");
  const auto has_code_to_optimise = [&](const Input& input) { return optimises && input.type == kLinkLtoIr; };
  if (std::any_of(inputs_.begin(), inputs_.end(), has_code_to_optimise)) {
    auto ptx = optimised(functions, error);
    if (!ptx) return std::nullopt;
    parts.push_back({kPtxInput, std::move(*ptx), "code optimised by nvJitLink"});
    has_optimised = true;
  }
  for (const Input& input : inputs_) {
    if (has_code_to_optimise(input)) continue;
    const auto type = driver_type(input.type);
    if (!type) {
      error = "the driver links no input of nvJitLink's type " + std::to_string(input.type) + " ('" +
              input.name + "')";
      return std::nullopt;
    }
    parts.push_back({*type, input.bytes, input.name});
  }
  const auto is_code = [](const LinkInput& part) { return part.type != kLibraryInput; };
  const auto code = std::find_if(parts.begin(), parts.end(), is_code);
  const bool is_one_text = std::count_if(parts.begin(), parts.end(), is_code) == 1 && code->type == kPtxInput;
  auto linked = is_one_text && parts.size() == 1 ? std::nullopt : link_by_driver(parts, error);
  // -ptx takes nothing but LTO IR, so nvJitLink cannot be told what the other inputs call.
  if (!linked && !is_one_text && has_optimised && parts.size() > 1)
    error +=
        "; -lto drops functions that only inputs of other kinds call: give those inputs as LTO IR, too, or "
        "link without -lto";
  // A text that needs nothing of the libraries beside it is whole; if it does, loading it will name what it
  // needs.
  if (!linked && is_one_text) linked = code->bytes;
  if (const unsigned most = most_registers(); linked && most != 0 && is_ptx(*linked))
    linked = with_register_limit(*linked, most);
  if (linked && is_ptx(*linked) && linked->back() != '\0') linked->push_back('\0');
  return linked;
}

std::optional<std::string> Link::optimised(const NvJitLink& functions, std::string& error) const {
  if (functions.ptx_size == nullptr || functions.ptx == nullptr) {
    error = "this release of nvJitLink hands out no PTX of optimised code";
    return std::nullopt;
  }
  std::vector<const char*> options;
  for (const std::string& option : options_) options.push_back(option.c_str());
  options.push_back("-ptx");
  void* link = nullptr;
  int code = functions.create(&link, static_cast<unsigned>(options.size()), options.data());
  if (code != kSuccess) {
    error = "nvJitLink does not take its options together with -ptx (error " + std::to_string(code) + ")";
    return std::nullopt;
  }
  for (const Input& input : inputs_) {
    if (input.type == kLinkLtoIr && code == kSuccess)
      code = functions.add_data(link, input.type, input.bytes.data(), input.bytes.size(), input.name.c_str());
  }
  if (code == kSuccess) code = functions.complete(link);
  std::size_t size = 0;
  if (code == kSuccess) code = functions.ptx_size(link, &size);
  std::optional<std::string> ptx;
  if (code == kSuccess) {
    ptx.emplace(size, '\0');
    code = functions.ptx(link, ptx->data());
  }
  if (code == kSuccess) {
    ptx = without_zeros(std::move(*ptx));
  } else {
    ptx.reset();
    error = "nvJitLink makes no PTX of it (error " + std::to_string(code) + "): " + log_of(functions, link);
  }
  (void)functions.destroy(&link);
  return ptx;
}

}  // namespace fairgv::jit
