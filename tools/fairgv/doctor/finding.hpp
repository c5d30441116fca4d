// The finding of a check of `fairgv doctor`: how things are, and what to do about it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fairgv::tools::doctor {

enum class Level {
  ok,
  note,  // works, but somebody should know
  wrong  // does not work, or lets tenants get around FairGV
};

struct Finding {
  Level level = Level::ok;
  std::string subject;  // in a few words: "driver pocl.icd"
  std::string text;     // how things are
  std::string remedy;   // an exact command or setting; empty for ok
};
using Findings = std::vector<Finding>;

inline Finding ok(std::string subject, std::string text) {
  return {Level::ok, std::move(subject), std::move(text), {}};
}
inline Finding note(std::string subject, std::string text, std::string remedy) {
  return {Level::note, std::move(subject), std::move(text), std::move(remedy)};
}
inline Finding wrong(std::string subject, std::string text, std::string remedy) {
  return {Level::wrong, std::move(subject), std::move(text), std::move(remedy)};
}

}  // namespace fairgv::tools::doctor
