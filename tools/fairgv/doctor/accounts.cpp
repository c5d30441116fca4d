#include "tools/fairgv/doctor/accounts.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>

namespace fairgv::tools::doctor {
namespace {

using Fields = std::vector<std::string>;

Fields split(const std::string& text, char separator) {
  Fields fields;
  std::istringstream stream(text);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

/// The lines of passwd(5) or group(5) that have the fields that we read: name, password, number, and one
/// more.
std::vector<Fields> entries(const Machine& machine, const char* path) {
  std::vector<Fields> found;
  for (const std::string& line : split(machine.text(path).value_or(""), '\n')) {
    Fields fields = split(line, ':');
    if (fields.size() >= 3) fields.resize(std::max<std::size_t>(fields.size(), 4));
    if (fields.size() >= 4) found.push_back(std::move(fields));
  }
  return found;
}

std::string name_of(const Machine& machine, const char* path, const char* kind, std::uint32_t number) {
  const std::string wanted = std::to_string(number);
  for (const Fields& entry : entries(machine, path)) {
    if (entry[2] == wanted) return entry[0];
  }
  return kind + (" " + wanted);
}

}  // namespace

std::string user_name(const Machine& machine, uid_t user) {
  return name_of(machine, "/etc/passwd", "user", user);
}

std::string group_name(const Machine& machine, gid_t group) {
  return name_of(machine, "/etc/group", "group", group);
}

std::vector<std::string> members_of(const Machine& machine, gid_t group) {
  const std::string wanted = std::to_string(group);
  std::set<std::string> members;
  for (const Fields& entry : entries(machine, "/etc/passwd")) {
    if (entry[3] == wanted) members.insert(entry[0]);
  }
  for (const Fields& entry : entries(machine, "/etc/group")) {
    if (entry[2] != wanted) continue;
    for (const std::string& member : split(entry[3], ',')) members.insert(member);
  }
  members.erase("root");
  return {members.begin(), members.end()};
}

}  // namespace fairgv::tools::doctor
