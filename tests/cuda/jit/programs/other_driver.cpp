// A libcuda.so.1 whose one device is not FairGV's: what a program asks before it asks for machine code, and
// what the compilers ask by themselves (they crash where it is not there).
#include <cstring>

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Some GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuGetExportTable(const void** table, const void*) {
  constexpr int kNotFound = 500;
  *table = nullptr;
  return kNotFound;
}
}
