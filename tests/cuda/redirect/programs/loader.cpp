// loader THREADS deep|shallow LIBRARY...: each thread opens libraries of its own, has them count twice while
// the others load theirs, closes them, and opens them again. Prints the counts of each library.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string counts_of(const char* path, int flags) {
  void* const library = dlopen(path, RTLD_NOW | flags);
  if (library == nullptr) return std::string(" ") + dlerror();
  if (const char* const error = dlerror()) return std::string(" dlopen() has left ") + error;
  auto* const next = reinterpret_cast<int (*)()>(dlsym(library, "counter_next"));
  std::string counts;
  for (int i = 0; i < 2; ++i)
    counts += " " + (next != nullptr ? std::to_string(next()) : std::string("none"));
  dlclose(library);
  return counts;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto threads = static_cast<std::size_t>(std::atoi(arguments[1]));
  const int flags = std::strcmp(arguments[2], "deep") == 0 ? RTLD_DEEPBIND : 0;
  const std::vector<const char*> paths(arguments + 3, arguments + count);
  std::vector<std::string> counts(paths.size());
  // The device is opened by one thread, so that none loads a driver while another loads a library.
  counts[0] = counts_of(paths[0], flags);
  std::vector<std::thread> running;
  for (std::size_t first = 0; first < threads; ++first) {
    running.emplace_back([&, first] {
      for (std::size_t i = 1 + first; i < paths.size(); i += threads)
        for (int round = 0; round < 2; ++round) counts[i] += counts_of(paths[i], flags);
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const std::string& each : counts) std::printf("%s\n", each.c_str());
  return 0;
}
