// Writes the seeds of fuzzing: fuzz_seeds FOLDER makes FOLDER/TARGET/seed-N for every target.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/target.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  for (const fairgv::fuzz::Target* target : fairgv::fuzz::kTargets) {
    const fs::path folder = fs::path(argv[1]) / target->name;
    fs::create_directories(folder);
    int number = 0;
    for (const fairgv::fuzz::Bytes& seed : target->seeds()) {
      std::ofstream file(folder / ("seed-" + std::to_string(number++)), std::ios::binary);
      file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    }
  }
  return 0;
}
