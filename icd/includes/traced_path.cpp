#include "icd/includes/traced_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <vector>

namespace fairgv::icd::includes {
namespace {

/// As many as the kernel follows (path_resolution(7)).
constexpr int kMostLinks = 40;

/// The names of a path, the last one first.
void push_names(std::string_view path, std::vector<std::string>& names) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (end > begin) names.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

std::optional<std::string> link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

bool exists(const std::string& path) {
  struct stat ignored {};
  return ::lstat(path.empty() ? "/" : path.c_str(), &ignored) == 0;
}

std::optional<std::string> trace(std::string_view path, Ways& ways, int& links_left);

/// The target of the link at `path` in `folder`.
std::optional<std::string> trace_link(const std::string& folder, const std::string& path,
                                      const std::string& target, Ways& ways, int& links_left) {
  if (links_left-- == 0) return std::nullopt;
  auto end = trace(target.front() == '/' ? target : folder + '/' + target, ways, links_left);
  if (end) ways.links.emplace(path, end->empty() ? "/" : *end);
  return end;
}

/// The empty path is the root folder here.
std::optional<std::string> trace(std::string_view path, Ways& ways, int& links_left) {
  std::string done;
  std::vector<std::string> names;
  push_names(path, names);
  for (; !names.empty(); names.pop_back()) {
    const std::string& name = names.back();
    if (name == ".") continue;
    if (name == "..") {
      if (!done.empty()) ways.folders.insert(done);
      done.resize(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    std::string reached = done + '/' + name;
    if (const auto target = link_target(reached)) {
      auto end = trace_link(done, reached, *target, ways, links_left);
      if (!end) return std::nullopt;
      reached = std::move(*end);
    }
    done = std::move(reached);
  }
  return exists(done) ? std::optional(done) : std::nullopt;
}

}  // namespace

std::optional<std::string> trace_path(std::string_view path, Ways& ways) {
  int links_left = kMostLinks;
  auto end = trace(path, ways, links_left);
  if (end && end->empty()) end = "/";
  return end;
}

}  // namespace fairgv::icd::includes
