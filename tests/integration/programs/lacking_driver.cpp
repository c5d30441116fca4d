// A library in the place of an OpenCL driver, which cannot be opened: a library that it needs is not found.
extern "C" int fairgv_test_lacked();

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* /*name*/) {
  static int value = fairgv_test_lacked();
  return &value;
}
