// The files that a build may include: found in texts and options, traced, and read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "icd/includes/collector.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::icd::includes {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// The names as they stand in the source; computed names as they are.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const Directive& directive : find_directives(text).includes) {
    switch (directive.form) {
      case Directive::Form::quoted:
        names.push_back('"' + directive.name + '"');
        break;
      case Directive::Form::angled:
        names.push_back('<' + directive.name + '>');
        break;
      case Directive::Form::computed:
        names.push_back(directive.name);
    }
  }
  return names;
}

TEST(IncludeDirectives, AreFoundInEveryFormThatTheLanguageHas) {
  EXPECT_THAT(names_in("#include \"a.h\"\n  #\tinclude<b/c.h>\n%:include \"d.h\"\n#include_next <e.h>\n"
                       "#import \"f.h\"\r\n#include MACRO(x)  // why\n"),
              ElementsAre("\"a.h\"", "<b/c.h>", "\"d.h\"", "<e.h>", "\"f.h\"", "MACRO(x)"));
  EXPECT_THAT(names_in("#include \"no end of line\""), ElementsAre("\"no end of line\""));
  EXPECT_THAT(names_in("#include \"of // and /* in names\""), ElementsAre("\"of // and /* in names\""));
}

TEST(IncludeDirectives, GoOnInTheNextLineBehindABackslash) {
  EXPECT_THAT(names_in("#inc\\\nlude \\\n \"a\\\r\n.h\"\n"), ElementsAre("\"a.h\""));
  EXPECT_THAT(names_in("// a comment that goes on \\\n#include \"a.h\"\n"), IsEmpty());
}

TEST(IncludeDirectives, AreNoneInCommentsStringsAndTheMiddleOfLines) {
  EXPECT_THAT(names_in("/* \n#include \"a.h\"\n*/ // #include \"b.h\"\nint x; #include \"c.h\"\n"),
              IsEmpty());
  EXPECT_THAT(names_in("char* s = \"\\\"/*\";\n#include \"a.h\"\nchar c = '\"';\n#include \"b.h\" // \"*/\n"),
              ElementsAre("\"a.h\"", "\"b.h\""));
  EXPECT_THAT(names_in("int x; /*\n*/ #include \"a.h\"\n"), IsEmpty());
  EXPECT_THAT(names_in("/* first */ # /* then */ include /* and */ \"a.h\"\n"), ElementsAre("\"a.h\""));
}

TEST(IncludeDirectives, CountBelowConditionsAndIfAskedFor) {
  EXPECT_THAT(names_in("#if 0\ndon't\n#include \"a.h\"\n#endif\n"), ElementsAre("\"a.h\""));
  EXPECT_THAT(names_in("#if defined(X) && __has_include(\"a.h\") || __has_include ( <b.h> )\n#endif\n"),
              ElementsAre("\"a.h\"", "<b.h>"));
}

TEST(IncludeDirectives, ThatAreNotOnesAreLeftAlone) {
  EXPECT_THAT(names_in("#included \"a.h\"\n#include\n#include \"\"\n#include \"a\n#include <b\n"
                       "#pragma include \"c.h\"\n# \"d.h\"\n#"),
              IsEmpty());
}

TEST(IncludeDirectives, ComeWithMacrosThatMayNameFiles) {
  const auto macros = find_directives(
                          "#define A \"a.h\"\n#define F(x) #x\n# define B /**/ A // or C\n"
                          "#define EMPTY\n#include A\n")
                          .macros;
  ASSERT_EQ(macros.size(), 2u);
  EXPECT_EQ(macros[0].name + "=" + macros[0].value, "A=\"a.h\"");
  EXPECT_EQ(macros[1].name + "=" + macros[1].value, "B=A");
}

TEST(IncludeDirectives, WithAbsolutePathsAreLedBelowARoot) {
  const std::string text = "#include \"/a/b.h\"\n#include \"c.h\" // \"/d.h\"\n  #  include </e.h>";
  const Directives directives = find_directives(text);
  EXPECT_TRUE(names_absolute_path(directives));
  EXPECT_EQ(with_paths_below("root", text, directives),
            "#include \"root/a/b.h\"\n#include \"c.h\" // \"/d.h\"\n  #  include <root/e.h>");
  EXPECT_FALSE(names_absolute_path(find_directives("#include \"a/b.h\"\n")));
}

TEST(IncludeOptions, NameFoldersFilesAndMacros) {
  const FileOptions options = read_file_options(
      "-I a -Ib -cl-std=CL2.0 -I \"with blank\" -I\\ escaped -isystem c -include d.h -DX -DH=\\\"e.h\\\" -D "
      "G=f");
  EXPECT_THAT(options.folders, ElementsAre("a", "b", "with blank", "escaped", "c"));
  EXPECT_THAT(options.files, ElementsAre("d.h"));
  ASSERT_EQ(options.macros.size(), 4u);
  EXPECT_EQ(options.macros[0].name + "=" + options.macros[0].value, "H=\"e.h\"");
  EXPECT_EQ(options.macros[3].name + "=" + options.macros[3].value, "G=f");
  EXPECT_THAT(options.absolute, IsEmpty());
  EXPECT_THAT(read_file_options("-I").folders, IsEmpty());
}

TEST(IncludeOptions, TellWhereAbsolutePathsBegin) {
  const std::string text = "-I/a -I /b/c -I \"/d e\" -I f -D/g -include /h";
  const FileOptions options = read_file_options(text);
  std::vector<std::string> marked;
  for (const std::uint32_t at : options.absolute) marked.push_back(text.substr(at, 2));
  EXPECT_THAT(marked, ElementsAre("/a", "/b", "/d", "/h"));
}

TEST(IncludeOptions, LeadMacrosThatArePathsBelowARoot) {
  const std::string text = "-I/a -DP=/b -D Q=\\\"/c\\\" -I /d";
  FileOptions options = read_file_options(text);
  ASSERT_EQ(options.path_macros.size(), 2u);
  EXPECT_EQ(options.path_macros[1].value, "/c");
  const std::set<std::uint32_t> places{options.path_macros[0].place, options.path_macros[1].place};
  const std::string led = with_paths_below("root", text, places, options.absolute);
  EXPECT_EQ(led, "-I/a -DP=root/b -D Q=\\\"root/c\\\" -I /d");
  std::vector<std::string> marked;
  for (const std::uint32_t at : options.absolute) marked.push_back(led.substr(at, 2));
  EXPECT_THAT(marked, ElementsAre("/a", "/d"));
}

struct OnDisk : ::testing::Test {
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    folder.write(name, text);
  }
  std::string path(const std::string& name) const { return folder / name; }

  const harness::TemporaryFolder folder;
};

using TracedPath = OnDisk;

TEST_F(TracedPath, LeadsThroughLinksAndTellsThem) {
  write("real/inner/a.h", "");
  write("real/b.h", "");
  fs::create_directory_symlink("real/inner", path("link"));
  fs::create_directory_symlink(path("link"), path("again"));
  Ways ways;
  EXPECT_EQ(trace_path(path("again/./a.h"), ways), path("real/inner/a.h"));
  EXPECT_EQ(ways.links.at(path("again")), path("real/inner"));
  EXPECT_EQ(ways.links.at(path("link")), path("real/inner"));
  EXPECT_THAT(ways.folders, IsEmpty());
  EXPECT_EQ(trace_path(path("link//../b.h"), ways), path("real/b.h"));
  EXPECT_THAT(ways.folders, ElementsAre(path("real/inner")));
  EXPECT_EQ(trace_path("/..//", ways), "/");
}

TEST_F(TracedPath, LeadsNowhereWhereThereIsNothingOrACircle) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  Ways ways;
  EXPECT_EQ(trace_path(path("a"), ways), std::nullopt);
  EXPECT_EQ(trace_path(path("not/there"), ways), std::nullopt);
}

struct IncludeCollector : OnDisk {
  /// The files that a source with these options may include, by path below the folder.
  std::vector<std::string> found_for(const std::string& source, const std::string& options) {
    const FileOptions read = read_file_options(options);
    Collector collector(folder.path(), read, limits);
    collector.add_source(source);
    collection = std::move(collector).collect();
    std::vector<std::string> names;
    for (const File& file : collection.files) names.push_back(fs::relative(file.path, folder.path()));
    return names;
  }
  std::string text_of(const std::string& name) const {
    for (const File& file : collection.files) {
      if (file.path == path(name)) return file.text;
    }
    return "(missing)";
  }

  Limits limits;
  Collection collection;
};

TEST_F(IncludeCollector, FindsAFileInEveryFolderThatItMayLieIn) {
  write("x.h", "");
  write("one/x.h", "");
  write("two/x.h", "");
  write("three/x.h", "");
  EXPECT_THAT(found_for("#include \"x.h\"\n", "-I one -I " + path("two")),
              UnorderedElementsAre("x.h", "one/x.h", "two/x.h"));
  EXPECT_THAT(found_for("#include <x.h>\n", ""), ElementsAre("x.h"));
  EXPECT_THAT(found_for("#include <three/x.h>\n#include \"no.h\"\n", "-I none"), ElementsAre("three/x.h"));
  EXPECT_THAT(found_for("int x;", "-include one/x.h"), ElementsAre("one/x.h"));
}

TEST_F(IncludeCollector, FollowsWhatFilesIncludeBesideThemAndInFolders) {
  write("inc/a.h", "#include \"sub/b.h\"\n#include <far.h>\n");
  write("inc/sub/b.h", "#include \"c.h\"\n#include <not_beside.h>\n");
  write("inc/sub/c.h", "#include \"../a.h\"\n");
  write("inc/sub/not_beside.h", "");
  write("other/far.h", "#include \"far.h\"\n");
  EXPECT_THAT(found_for("#include \"inc/a.h\"\n", "-Iother"),
              UnorderedElementsAre("inc/a.h", "inc/sub/b.h", "inc/sub/c.h", "other/far.h"));
}

TEST_F(IncludeCollector, NamesFilesAsTheProgramDoesWhereATextShowsIt) {
  write("inc/a.h",
        "\xEF\xBB\xBF"
        "int a;");
  write("b.h", "int b;\n");
  const std::string source = "#include \"a.h\"\n#include \"b.h\"\n";
  found_for(source, "-I " + path("inc"));
  EXPECT_EQ(text_of("b.h"), "int b;\n");
  for (const std::string& where : {std::string(), std::string(" -DWHERE=__FILE__")}) {
    found_for(source + (where.empty() ? "x = __FILE__;" : ""), "-I " + path("inc") + where);
    EXPECT_EQ(text_of("inc/a.h"), "#line 1 \"" + path("inc/a.h") + "\"\nint a;");
    EXPECT_EQ(text_of("b.h"), "#line 1 \"./b.h\"\nint b;\n");
  }
  write("b.h", "#define HERE __FILE__\n");
  found_for(source, "-I " + path("inc"));
  EXPECT_EQ(text_of("inc/a.h"), "#line 1 \"" + path("inc/a.h") + "\"\nint a;");
}

TEST_F(IncludeCollector, LeadsAbsolutePathsBelowTheRoot) {
  write("a.h", "#include \"" + path("b.h") + "\"\n");
  write("b.h", "");
  EXPECT_THAT(found_for("#include \"a.h\"\n", ""), UnorderedElementsAre("a.h", "b.h"));
  EXPECT_THAT(text_of("a.h"), HasSubstr("#include \"fairgv-root" + path("b.h") + "\""));
  EXPECT_TRUE(collection.names_absolute_path);
}

TEST_F(IncludeCollector, FindsWhatMacrosName) {
  for (const char* name : {"a.h", "b.h", "c.h", "d.h"}) write(name, "");
  write("config.h", "#define CHOSEN \"b.h\"\n");
  EXPECT_THAT(found_for("#define A <a.h>\n#define ALIAS A\n#include ALIAS\n", ""), ElementsAre("a.h"));
  EXPECT_THAT(found_for("#include CHOSEN\n#include \"config.h\"\n", ""),
              UnorderedElementsAre("config.h", "b.h"));
  EXPECT_THAT(found_for("#include STR(FILE)\n#include STR(d.h)\n", "-DFILE=c.h"),
              UnorderedElementsAre("c.h", "d.h"));
  EXPECT_THAT(found_for("#include NAME\n", "-DNAME=\\\"a.h\\\""), ElementsAre("a.h"));
  EXPECT_THAT(found_for("#define A B\n#define B A\n#include A\n#include\n", ""), IsEmpty());
}

TEST_F(IncludeCollector, FindsWhatMacrosMakeOfPieces) {
  write("inc/a.h", "#include S(WHERE/b.h)\n");
  write("inc/b.h", "");
  const std::string options = "-D X=1 -DWHERE=" + path("inc");
  EXPECT_THAT(found_for("#include S(WHERE/a.h)\n", options), UnorderedElementsAre("inc/a.h", "inc/b.h"));
  EXPECT_TRUE(collection.names_absolute_path);
  EXPECT_THAT(collection.path_macros, ElementsAre(options.find("/")));
  found_for("#include S(WHERE/no.h)\n", options);
  EXPECT_THAT(collection.path_macros, IsEmpty());
  EXPECT_THAT(found_for("#define DIR inc\n#define SUB DIR\n#include S(SUB/b.h)\n", ""),
              ElementsAre("inc/b.h"));
}

TEST_F(IncludeCollector, SendsOneFileOnceByWhicheverWayItIsReached) {
  write("real/a.h", "#include \"b.h\"\n");
  write("real/b.h", "");
  write("b.h", "");
  fs::create_directory_symlink("real", path("link"));
  fs::create_symlink("real/a.h", path("a.h"));
  EXPECT_THAT(found_for("#include \"link/a.h\"\n#include \"real/a.h\"\n", ""),
              UnorderedElementsAre("real/a.h", "real/b.h", "b.h"));
  // Through the second link the file lies beside another b.h.
  EXPECT_THAT(found_for("#include \"a.h\"\n", ""), UnorderedElementsAre("real/a.h", "b.h"));
  EXPECT_EQ(collection.ways.links.at(path("a.h")), path("real/a.h"));
}

TEST_F(IncludeCollector, TakesOnlyRegularFilesThatTheProgramMayRead) {
  ASSERT_EQ(::mkfifo(path("pipe.h").c_str(), 0600), 0);
  fs::create_directory(path("folder.h"));
  EXPECT_THAT(found_for("#include \"pipe.h\"\n#include \"folder.h\"\n#include \"/dev/zero\"\n", ""),
              IsEmpty());
  if (::geteuid() == 0) return;  // root may read everything
  write("closed.h", "");
  fs::permissions(path("closed.h"), fs::perms::none);
  EXPECT_THAT(found_for("#include \"closed.h\"\n", ""), IsEmpty());
}

TEST_F(IncludeCollector, KnowsWhetherAHeaderMayPrint) {
  write("quiet.h", "");
  write("loud.h", "void f(void) { printf(\"\"); }\n");
  found_for("#include \"quiet.h\"\n", "");
  EXPECT_FALSE(collection.may_print);
  found_for("#include \"loud.h\"\n", "");
  EXPECT_TRUE(collection.may_print);
}

TEST_F(IncludeCollector, StopsAtEachOfItsLimitsAndSaysSo) {
  for (int i = 0; i < 10; ++i) {
    write(std::to_string(i) + ".h", "#include \"" + std::to_string(i + 1) + ".h\"\n");
  }
  EXPECT_EQ(found_for("#include \"0.h\"\n", "").size(), 10u);
  EXPECT_EQ(collection.remark, "");
  limits = {.files = 4};
  EXPECT_EQ(found_for("#include \"0.h\"\n", "").size(), 4u);
  EXPECT_THAT(collection.remark, HasSubstr("are more than 4 files"));
  EXPECT_THAT(collection.remark, HasSubstr("the first is ./4.h"));
  limits = {.depth = 3};
  EXPECT_EQ(found_for("#include \"0.h\"\n", "").size(), 3u);
  EXPECT_THAT(collection.remark, HasSubstr("are nested more than 3 deep"));
  limits = {.bytes = std::size_t{1} << 20};
  write("big.h", std::string(limits.bytes + 1, ' '));
  EXPECT_THAT(found_for("#include \"big.h\"\n#include \"9.h\"\n", ""), ElementsAre("9.h"));
  EXPECT_THAT(collection.remark, HasSubstr("are more than 1 MiB: some were not sent"));
}

}  // namespace
}  // namespace fairgv::icd::includes
