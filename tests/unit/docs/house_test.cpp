// The folder tree is the architecture: includes follow the tables of rooms, folders and files stay small, and
// the lines of pages fit.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "tests/unit/docs/tree.hpp"

namespace fairgv::docs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFilesInAFolder = 25;
constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostCharacters = 120;

const std::vector<std::string> kSources{".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc"};

/// A room of the table: a folder, and the folders that it may include.
struct Room {
  std::string folder;
  std::set<std::string> may_include;
};

/// The texts between single backquotes.
std::vector<std::string> quoted(const std::string& text) {
  static const std::regex kQuoted("`([^`]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), kQuoted), end; each != end; ++each)
    found.push_back((*each)[1]);
  return found;
}

std::string last_part(const std::string& folder) {
  return fs::path(folder).filename();
}

/// The rows "| `folder` | text | folders that it may include |" of a page, lowest room first. `below`: the
/// folder that holds these folders. A room is named by its folder, or by the last part of its folder.
std::vector<Room> rooms_of(const std::string& page, const fs::path& below) {
  static const std::regex kRow(R"(^\| `([^`]+)` \|.*\| ([^|]+) \|$)");
  std::vector<Room> rooms;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    std::smatch row;
    if (!std::regex_match(line, row, kRow)) continue;
    Room room{(below / row[1].str()).lexically_normal(), {}};
    const std::string may = row[2];
    for (const Room& lower : rooms) {
      const auto names = quoted(may);
      const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return name == lower.folder || name == last_part(lower.folder);
      });
      if (named || may.find("all rooms above") != std::string::npos) room.may_include.insert(lower.folder);
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

/// The room with the longest folder that the path begins with.
const Room* room_of(const std::vector<Room>& rooms, const std::string& path) {
  const Room* found = nullptr;
  for (const Room& room : rooms) {
    const bool inside = path.starts_with(room.folder + "/");
    if (inside && (found == nullptr || room.folder.size() > found->folder.size())) found = &room;
  }
  return found;
}

std::string in_tree(const fs::path& file) {
  return file.lexically_relative(kRoot);
}

/// The quoted includes of a source file, as paths from the root, without files that are not in the tree.
std::set<std::string> includes_of(const fs::path& file) {
  static const std::regex kInclude(R"re(#\s*include "([^"]+)")re");
  const std::string text = text_of(file);
  std::set<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), kInclude), end; each != end; ++each) {
    const std::string name = (*each)[1];
    for (const fs::path& candidate : {kRoot / name, file.parent_path() / name}) {
      if (!fs::exists(candidate)) continue;
      found.insert(in_tree(candidate.lexically_normal()));
      break;
    }
  }
  return found;
}

/// Each include that leaves its room for a room that the table does not allow. `below`: the folder that holds
/// the rooms' folders, or empty; a file directly in `below` belongs to the top room.
std::vector<std::string> wrong_arrows(const std::vector<Room>& rooms, const std::string& below = {}) {
  std::vector<std::string> wrong;
  for (const fs::path& file : files_ending(kSources)) {
    const Room* const from = room_of(rooms, in_tree(file));
    if (from == nullptr) continue;
    for (const std::string& included : includes_of(file)) {
      const Room* const to = room_of(rooms, included);
      const bool up = to == nullptr && !below.empty() && included.starts_with(below + "/");
      if (!up && (to == nullptr || to == from || from->may_include.contains(to->folder))) continue;
      wrong.push_back(in_tree(file) + " includes " + included);
    }
  }
  return wrong;
}

std::string lines(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += "\n" + text;
  return joined;
}

TEST(House, IncludesGoTheWayThatTheTableOfRoomsSays) {
  const auto rooms = rooms_of(text_of(kRoot / "docs/ARCHITECTURE.md"), {});
  ASSERT_GT(rooms.size(), 15U) << "the table is not read";
  const auto wrong = wrong_arrows(rooms);
  EXPECT_TRUE(wrong.empty()) << lines(wrong);
}

TEST(House, EveryRoomOfTheTableIsThereAndEverySourceLiesInARoom) {
  const auto rooms = rooms_of(text_of(kRoot / "docs/ARCHITECTURE.md"), {});
  for (const Room& room : rooms) EXPECT_TRUE(fs::is_directory(kRoot / room.folder)) << room.folder;
  for (const fs::path& file : files_ending(kSources)) {
    EXPECT_NE(room_of(rooms, in_tree(file)), nullptr) << file << " lies in no room";
  }
}

/// Rooms whose README has a table of their folders.
class HouseOfFolders : public ::testing::TestWithParam<const char*> {};

TEST_P(HouseOfFolders, IncludesGoTheWayThatItsTableSays) {
  const fs::path folder = GetParam();
  const auto rooms = rooms_of(text_of(kRoot / folder / "README.md"), folder);
  ASSERT_GT(rooms.size(), 2U) << "the table is not read";
  const auto wrong = wrong_arrows(rooms, folder);
  EXPECT_TRUE(wrong.empty()) << lines(wrong);
}

TEST_P(HouseOfFolders, HasARowForEachFolder) {
  const fs::path folder = GetParam();
  const auto rooms = rooms_of(text_of(kRoot / folder / "README.md"), folder);
  for (const fs::path& file : files_ending(kSources)) {
    const fs::path path = in_tree(file);
    if (!path.string().starts_with(folder.string() + "/") || path.parent_path() == folder) continue;
    EXPECT_NE(room_of(rooms, path), nullptr) << path << " lies in no folder of the table";
  }
}

INSTANTIATE_TEST_SUITE_P(, HouseOfFolders, ::testing::Values("runtime/daemon", "runtime/vgpu"),
                         [](const auto& room) { return last_part(room.param); });

TEST(House, FoldersHoldFewFiles) {
  std::map<std::string, std::size_t> files;
  std::vector<std::string> endings = kSources;
  for (const char* ending : {".txt", ".cmake", ".md", ".def", ".map", ".in", ".cl", ".py", ".toml"})
    endings.emplace_back(ending);
  for (const fs::path& file : files_ending(endings)) ++files[in_tree(file.parent_path())];
  for (const auto& [folder, count] : files) EXPECT_LE(count, kMostFilesInAFolder) << folder;
}

TEST(House, FilesAreOneIdeaLong) {
  for (const fs::path& file : files_ending(kSources)) {
    const std::string text = text_of(file);
    const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_LE(count, kMostLines) << in_tree(file);
  }
}

/// Characters, not bytes of UTF-8.
std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char byte) { return (byte & '\xc0') != '\x80'; }));
}

TEST(House, LinesOfPagesFit) {
  for (const fs::path& page : files_ending({".md"})) {
    std::istringstream in(text_of(page));
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      EXPECT_LE(characters(line), kMostCharacters) << in_tree(page) << ":" << number;
    }
  }
}

/// The C++ files that a text names, with the folders that it names with them. Not the standard's headers, and
/// no paths from the root or of a parent folder. By hand: std::regex takes a minute for all files in a
/// sanitized build.
std::vector<std::string> files_named_in(const std::string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::string> names;
  for (auto dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
    const std::string ending = text.substr(dot + 1, 3);
    if (ending != "hpp" && ending != "cpp") continue;
    if (dot + 4 < text.size() && is_word(text[dot + 4])) continue;
    auto begin = dot;
    while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '-' || text[begin - 1] == '/'))
      --begin;
    if (begin == dot || !is_word(text[begin]) || text[dot - 1] == '/') continue;
    if (begin > 0 && (text[begin - 1] == '.' || text[begin - 1] == '<')) continue;
    names.push_back(text.substr(begin, dot + 4 - begin));
  }
  return names;
}

TEST(House, FindsTheFilesThatATextNames) {
  const std::string text =
      "main.cpp (sched/fair_queue.cpp): <vector.hpp> ../e.hpp /f.hpp x.hpp2 *.cpp `base/page.hpp`. tree.hpp";
  EXPECT_EQ(files_named_in(text),
            (std::vector<std::string>{"main.cpp", "sched/fair_queue.cpp", "base/page.hpp", "tree.hpp"}));
}

TEST(House, CommentsAndPagesNameFilesThatExist) {
  const std::set<std::string> made{"prelude_text.cpp",
                                   "sched/policies/NAME.hpp"};  // by the build; by the reader
  std::set<std::string> endings;  // of all paths: the name, with its folder, with both folders, ...
  for (const fs::path& file : files_ending({".hpp", ".cpp"})) {
    fs::path tail;
    const fs::path path = in_tree(file);
    for (auto part = path.end(); part != path.begin();) {
      --part;
      tail = tail.empty() ? *part : *part / tail;
      endings.insert(tail.string());
    }
  }
  for (const fs::path& file : files_ending({".hpp", ".cpp", ".md", ".txt", ".cmake"})) {
    for (const std::string& name : files_named_in(text_of(file))) {
      EXPECT_TRUE(endings.contains(name) || made.contains(name)) << in_tree(file) << " names " << name;
    }
  }
}

// ---- classes

/// The names of the functions that the classes of a header declare as public, by class. Overloads, operators
/// and constructors count once or not at all. Reads the text as this project writes it: one access label a
/// line, a declaration begins two columns in.
std::map<std::string, std::set<std::string>> public_functions(const std::string& header) {
  static const std::regex kClass(
      R"(^(?:class|struct) (?:\[\[\w+\]\] |alignas\(\d+\) )?(\w+)(?: final)?(?: :[^;]*)? \{$)");
  static const std::regex kFunction(R"(^  (?! )(?:\[\[\w+\]\] )?(?:[\w:<>,*& ]+[ *&])(?!operator)(\w+)\()");
  std::map<std::string, std::set<std::string>> found;
  std::string name;
  bool is_public = false;
  std::istringstream in(header);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kClass)) {
      name = match[1];
      is_public = line.starts_with("struct");
    } else if (line == "};") {
      name.clear();
    } else if (line == " public:") {
      is_public = true;
    } else if (line == " private:" || line == " protected:") {
      is_public = false;
    } else if (!name.empty() && is_public && std::regex_search(line, match, kFunction) && match[1] != name) {
      found[name].insert(match[1]);
    }
  }
  return found;
}

TEST(House, ClassesHaveOneJob) {
  constexpr std::size_t kMostPublic = 25;
  std::size_t classes = 0;
  for (const fs::path& file : files_ending({".hpp"})) {
    for (const auto& [name, functions] : public_functions(text_of(file))) {
      ++classes;
      EXPECT_LE(functions.size(), kMostPublic) << in_tree(file) << ": " << name;
    }
  }
  EXPECT_GT(classes, 300U) << "the headers are not read";
}

TEST(House, CountsThePublicFunctionsOfAClass) {
  const auto found = public_functions(
      "class Executor final : public Sink {\n public:\n  explicit Executor(int a);\n  ~Executor();\n"
      "  Result<void> add(int a);\n  Result<void> add(long a);\n  const Helm& helm() const { return helm_; "
      "}\n"
      "  static constexpr int kMost = 1;\n private:\n  void hidden();\n};\n");
  EXPECT_EQ(found, (std::map<std::string, std::set<std::string>>{{"Executor", {"add", "helm"}}}));
}

}  // namespace
}  // namespace fairgv::docs
