// The place where a worker lays out a program's headers for its driver.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/vgpu/opencl/programs/include_files.hpp"
#include "runtime/vgpu/opencl/programs/recipe.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::vgpu::opencl {
namespace {

namespace fs = std::filesystem;
using wire::IncludePlace;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A test with a folder for temporary files of its own.
struct IncludeFilesTest : ::testing::Test {
  IncludeFilesTest() { ::setenv("TMPDIR", temporary.path().c_str(), 1); }
  ~IncludeFilesTest() override { ::unsetenv("TMPDIR"); }

  Result<void> add(std::uint32_t kind, std::string_view path, std::string_view contents = "") const {
    wire::ProvideIncludes message;
    message.places = {{kind, path, contents}};
    return files->add(message);
  }
  void mark(std::vector<std::uint32_t> absolute_options, bool names_root = false) const {
    wire::ProvideIncludes message;
    message.absolute_options = absolute_options;
    message.names_root = names_root ? 1 : 0;
    ASSERT_TRUE(files->add(message));
  }
  /// The options for a driver, with H for the part that depends on the files.
  std::string options(const std::string& directory, const std::string& given) const {
    EXPECT_TRUE(files->complete(directory, given));
    std::string text = files->options(given);
    for (std::size_t at; (at = text.find("fairgv-headers-")) != text.npos;) text.replace(at, 31, "H");
    return text;
  }
  std::size_t left_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(temporary.path()), {}));
  }

  const harness::TemporaryFolder temporary;
  const fs::path started_in = fs::current_path();
  std::shared_ptr<IncludeFiles> files = std::make_shared<IncludeFiles>();
};

TEST_F(IncludeFilesTest, LieWhereThePathsOfTheProgramLead) {
  ASSERT_TRUE(add(IncludePlace::file, "/srv/inc/a.h", "A"));
  ASSERT_TRUE(add(IncludePlace::link, "/srv/link", "/srv/inc"));
  ASSERT_TRUE(add(IncludePlace::link, "/alone.h", "/srv/inc/a.h"));
  ASSERT_TRUE(add(IncludePlace::folder, "/srv/left"));
  ASSERT_TRUE(files->complete("/home/alice", ""));
  {
    IncludeFailure failure{0};
    const IncludeFolder folder(files, &failure);
    EXPECT_EQ(failure.load(), 0);
    for (const char* path : {"../../srv/inc/a.h", "../../srv/link/a.h", "../../srv/link/../inc/a.h",
                             "../../alone.h", "../../srv/left/../inc/a.h"}) {
      EXPECT_EQ(text_of(path), "A") << path;
    }
    EXPECT_TRUE(fs::equivalent("../../srv/link/a.h", "../../srv/inc/a.h"));
    EXPECT_EQ(text_of("../../../fairgv-root/srv/inc/a.h"), "A");
    EXPECT_EQ(left_in_folder(), 1u);
  }
  EXPECT_EQ(fs::current_path(), started_in);
  EXPECT_EQ(left_in_folder(), 0u);
}

TEST_F(IncludeFilesTest, ThatAreNoneChangeNothing) {
  const IncludeFolder folder(nullptr);
  EXPECT_EQ(fs::current_path(), started_in);
  EXPECT_EQ(folder.options("-I /a"), "-I /a");
  EXPECT_EQ(left_in_folder(), 0u);
}

TEST_F(IncludeFilesTest, GiveAbsolutePathsOfOptionsAWayThere) {
  mark({2, 15});
  EXPECT_EQ(options("/a/b", "-I/inc -I. -I \"/with blank\""),
            "-I../../../H/inc -I. -I \"../../../H/with blank\"");
  EXPECT_EQ(options("/", "-I/inc -I. -I \"/with blank\""), "-I../H/inc -I. -I \"../H/with blank\"");
}

TEST_F(IncludeFilesTest, ShowTheirContentsInTheOptionsInAnyCase) {
  EXPECT_EQ(options("/a", ""), "-I../../H/.fairgv");
  mark({}, true);
  EXPECT_EQ(options("/a", "-w"), "-w -I../../H/.fairgv -I../../.");
  const std::string before = files->options("");
  ASSERT_TRUE(add(IncludePlace::file, "/a.h", "1"));
  ASSERT_TRUE(files->complete("/a", ""));
  EXPECT_NE(files->options(""), before);
}

TEST_F(IncludeFilesTest, AreNeverWrittenOutsideOfTheirFolder) {
  for (const char* path : {"a.h", "", "/", "/../a.h", "/a/../../b.h", "/a//b", "/a/", "/a/./b"}) {
    EXPECT_FALSE(add(IncludePlace::file, path, "")) << path;
    EXPECT_FALSE(add(IncludePlace::link, "/link", std::string_view(path) == "/" ? "" : path)) << path;
  }
  EXPECT_FALSE(add(IncludePlace::file, std::string_view("/a\0b", 4), ""));
  EXPECT_FALSE(add(IncludePlace::file, "/" + std::string(5'000, 'a'), ""));
  EXPECT_FALSE(add(3, "/a", ""));
  EXPECT_FALSE(files->complete("a", ""));
  EXPECT_FALSE(files->complete("/a/..", ""));
  mark({4});
  EXPECT_FALSE(files->complete("/a", "-I/a"));
  mark({3, 2});
  EXPECT_FALSE(files->complete("/a", "-I/a"));
}

TEST_F(IncludeFilesTest, ThatCannotBeLaidOutAreAFailureAndNoHarm) {
  ASSERT_TRUE(add(IncludePlace::file, "/a", ""));
  ASSERT_TRUE(add(IncludePlace::file, "/a/b", ""));  // a file cannot hold another
  ASSERT_TRUE(files->complete("/", ""));
  IncludeFailure failure{0};
  {
    const IncludeFolder folder(files, &failure);
    EXPECT_NE(failure.load(), 0);
  }
  EXPECT_EQ(left_in_folder(), 0u);
  ::setenv("TMPDIR", (temporary / "not there").c_str(), 1);
  failure = 0;
  const IncludeFolder folder(files, &failure);
  EXPECT_NE(failure.load(), 0);
  EXPECT_EQ(fs::current_path(), started_in);
}

TEST_F(IncludeFilesTest, WithVariablesKeepTheProgramWhole) {
  const auto source = std::make_shared<const std::string>("#include \"state.h\"\nkernel void f(void) {}\n");
  const Recipe without{.source = source, .options = "-cl-std=CL2.0"};
  EXPECT_EQ(why_not_sliceable(without), std::nullopt);
  ASSERT_TRUE(add(IncludePlace::file, "/state.h", "global int launches;\n"));
  EXPECT_NE(why_not_sliceable({.source = source, .options = "-cl-std=CL2.0", .includes = files}),
            std::nullopt);
  EXPECT_EQ(why_not_sliceable({.source = source, .options = "", .includes = files}), std::nullopt);
}

TEST(IncludeLog, NamesPathsOfTheProgram) {
  const std::string root = "fairgv-headers-0123456789abcdef";
  EXPECT_EQ(with_programs_paths("error: ../../" + root + "/srv/a.h:3: no\n"), "error: /srv/a.h:3: no\n");
  EXPECT_EQ(with_programs_paths("in /tmp/fairgv-build-abcdef/" + root + "/a.h and './../" + root + "/b.h'"),
            "in /a.h and '/b.h'");
  EXPECT_EQ(with_programs_paths("-I../" + root + "/a 'fairgv-root/b.h' ../../fairgv-root/c.h"),
            "-I/a '/b.h' /c.h");
  for (const char* other : {"", "a.h: no", "fairgv-headers-", "fairgv-root", "../fairgv-headers-0123 x"}) {
    EXPECT_EQ(with_programs_paths(other), other);
  }
}

}  // namespace
}  // namespace fairgv::vgpu::opencl
