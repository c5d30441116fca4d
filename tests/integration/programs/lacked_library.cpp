// The library that lacking_driver.cpp needs. It lies where no linker looks.
extern "C" __attribute__((visibility("default"))) int fairgv_test_lacked() {
  return 1;
}
