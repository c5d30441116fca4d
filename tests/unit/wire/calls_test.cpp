// Every declared call has both its sides: something in the front end sends it and something in the worker
// handles it. (The worker's dispatch over AllCalls also fails to compile without a handler.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/wire/call_names.hpp"
#include "runtime/wire/every_call.hpp"
#include "runtime/wire/object_ids.hpp"

namespace fairgv::wire {
namespace {

using ::testing::ElementsAre;

const std::filesystem::path kRoot(FAIRGV_SOURCE_DIR);

std::string source(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(kRoot / file).rdbuf() << '\n';
  return text.str();
}

std::string sources_of(const std::string& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".hpp") all += source(entry.path());
  }
  return all;
}

std::vector<std::string> difference(const std::set<std::string>& all, const std::set<std::string>& without) {
  std::vector<std::string> names;
  std::ranges::set_difference(all, without, std::back_inserter(names));
  return names;
}

/// All names X of `space` X. Found by hand: std::regex takes a minute for this under ThreadSanitizer.
std::set<std::string, std::less<>> names_in(const std::string& text, std::string_view space = "wire::") {
  const auto part_of_a_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::set<std::string, std::less<>> names;
  for (std::size_t at = text.find(space); at != std::string::npos; at = text.find(space, at + 1)) {
    if (at > 0 && part_of_a_name(text[at - 1])) continue;
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(at + space.size());
    names.emplace(first, std::find_if_not(first, text.end(), part_of_a_name));
  }
  return names;
}

template <class... Call>
void each_call(TypeList<Call...>, auto&& body) {
  (body.template operator()<Call>(), ...);
}

TEST(WireCalls, HaveTheirNamesByOpcodeWhicheverApiTheyAreOf) {
  const auto check = [&]<class Call>() { EXPECT_EQ(call_name(Call::opcode), Call::name); };
  each_call(EveryCall{}, check);
  EXPECT_EQ(call_name(kPartialReply), "(unknown call)");
  EXPECT_EQ(wait_name(0xFFFF'FFFF, BuildProgram::opcode), "BuildProgram");
}

TEST(WireCalls, OpcodesAreUniqueAndLeaveTheReservedBitsAlone) {
  std::set<Opcode> seen;
  const auto check = [&]<class Call>() {
    EXPECT_TRUE(seen.insert(Call::opcode).second) << Call::name;
    EXPECT_EQ(Call::opcode & kIndirectBit, 0) << Call::name;
    EXPECT_NE(Call::opcode, kPartialReply) << Call::name;
  };
  each_call(AllCalls{}, check);
  each_call(AllNotices{}, check);
  seen.clear();
  each_call(cuda::AllCalls{}, check);
  // A call that several APIs have is the same call.
  std::map<Opcode, std::string_view> names;
  each_call(EveryCall{}, [&]<class Call>() {
    EXPECT_EQ(names.emplace(Call::opcode, Call::name).first->second, Call::name);
  });
}

TEST(WireCalls, EveryDeclaredCallIsListed) {
  std::set<std::string> listed;
  const auto list = [&]<class Call>() { listed.emplace(Call::name); };
  each_call(EveryCall{}, list);
  each_call(AllNotices{}, list);
  const std::string declarations = sources_of("runtime/wire/calls");
  const std::regex declaration("\\n  FAIRGV_CALL\\((\\w+),");
  const std::sregex_iterator first(declarations.begin(), declarations.end(), declaration);
  std::set<std::string> declared;
  std::for_each(first, {}, [&](const std::smatch& match) { declared.insert(match[1]); });
  EXPECT_THAT(difference(declared, listed), ElementsAre()) << "in a header, but in no list";
  EXPECT_THAT(difference(listed, declared), ElementsAre()) << "in a list, but in no header";
}

TEST(WireCalls, ThatMakeOrChangeObjectsLast) {
  const auto lasts = [](std::string_view name, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
  };
  // Events have their own table; of the rest the worker chooses the name, which only its answer tells.
  const std::set<std::string_view> others{"CreateUserEvent",  "SetUserEventStatus", "SetKernelArguments",
                                          "CreateSubDevices", "CudaCreatePhysical", "CudaSetAccess",
                                          "CudaSettleFrees"};
  each_call(EveryCall{}, [&]<class Call>() {
    const bool named = lasts(Call::name, {"Create", "Build", "Compile", "Link", "Record", "Finalize",
                                          "Provide", "Set", "CudaCreate", "CudaLoad", "CudaLink",
                                          "CudaGetFunction", "CudaSet", "CudaName", "CudaGiveUp"});
    const bool wanted = named && !others.contains(Call::name) && Call::name != "CudaGetFunctionNames";
    EXPECT_EQ(LastingCall<Call>, wanted) << Call::name;
  });
}

template <class Call>
std::vector<std::uint64_t> ids_in(const Call& call) {
  std::vector<std::uint64_t> ids;
  each_object_id(call, [&](ObjectId id) { ids.push_back(id.raw); });
  return ids;
}

TEST(ObjectIds, AreFoundInFieldsListsMessagesAndArguments) {
  const std::vector<ArgumentUpdate> updates{{0, ArgumentKind::memory, 0, 11},
                                            {1, ArgumentKind::value, 4, 12},
                                            {2, ArgumentKind::local, 64, 13},
                                            {3, ArgumentKind::sampler, 0, 14},
                                            {4, ArgumentKind::svm, 0, 15}};
  RecordKernel launch;
  launch.recording.command_buffer = ObjectId{1};
  launch.command.kernel = ObjectId{2};
  launch.command.updates = updates;
  EXPECT_THAT(ids_in(launch), ElementsAre(1, 2, 11, 14));
  const std::vector<ObjectId> inputs{{3}, {4}};
  LinkProgram link;
  link.id = ObjectId{1};
  link.context = ObjectId{2};
  link.inputs = inputs;
  EXPECT_THAT(ids_in(link), ElementsAre(1, 2, 3, 4));
  CompileProgram compile;
  compile.program = ObjectId{5};
  compile.headers = {{ObjectId{6}, "a.h"}};
  EXPECT_THAT(ids_in(compile), ElementsAre(5, 6));
  cuda::CreateTexture texture;
  texture.id = ObjectId{7};
  texture.memory.address = 8;
  EXPECT_THAT(ids_in(texture), ElementsAre(7, 8));
  texture.memory.kind = 2;  // linear memory
  EXPECT_THAT(ids_in(texture), ElementsAre(7));
}

TEST(WireCalls, FuzzingOfTheWorkerBeginsWithEveryCallOfOpenCl) {
  const auto scripts = names_in(source("tests/fuzz/worker_script.cpp"));
  each_call(AllCalls{}, [&]<class Call>() {
    EXPECT_TRUE(scripts.contains(Call::name)) << "tests/fuzz/worker_script.cpp lacks " << Call::name;
  });
}

TEST(WireCalls, EveryRequestHasASenderInTheFrontEndAndAHandlerInTheWorker) {
  // Creating and releasing objects and events goes through the session on behalf of the front end.
  const auto front_end = names_in(sources_of("icd") + sources_of("runtime/session"));
  const auto worker = names_in(sources_of("runtime/vgpu"));
  each_call(AllCalls{}, [&]<class Call>() {
    // Ping is the null call of the benchmarks and tests; no OpenCL entry point needs it.
    if (Call::name != "Ping") {
      EXPECT_TRUE(front_end.contains(Call::name)) << "nobody sends " << Call::name;
    }
    EXPECT_TRUE(worker.contains(Call::name)) << "nobody handles " << Call::name;
  });
}

TEST(WireCalls, EveryCallOfCudaHasASenderInItsFrontEnd) {
  const auto front_end = names_in(sources_of("cuda-shim/driver"), "wire::cuda::");
  const auto check = [&]<class Call>() {
    const std::string name(Call::name.substr(std::string_view("Cuda").size()));
    EXPECT_TRUE(front_end.contains(name)) << "nobody sends " << Call::name;
  };
  each_call(cuda::ContextCalls{}, check);
  each_call(cuda::ModuleCalls{}, check);
  each_call(cuda::MemoryCalls{}, check);
  each_call(cuda::WordCalls{}, check);
  each_call(cuda::IpcCalls{}, check);
  each_call(cuda::RangeCalls{}, check);
}

TEST(WireCalls, EveryNoticeHasASenderInTheWorkerAndAHandlerInTheFrontEnd) {
  const auto front_end = names_in(sources_of("icd"));
  const auto worker = names_in(sources_of("runtime/vgpu"));
  each_call(AllNotices{}, [&]<class Notice>() {
    EXPECT_TRUE(front_end.contains(Notice::name)) << "nobody receives " << Notice::name;
    EXPECT_TRUE(worker.contains(Notice::name)) << "nobody sends " << Notice::name;
  });
}

}  // namespace
}  // namespace fairgv::wire
