add_executable(system_test system_programs_test.cpp system_faults_test.cpp system_input_test.cpp
  system_readme_test.cpp)
target_link_libraries(system_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main)
target_compile_definitions(system_test PRIVATE
  FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_SANITIZED=$<BOOL:${FAIRGV_SANITIZE}>)
add_dependencies(system_test fairgv fairgvd fairgv-vgpu fairgv-opencl opencl_api_test)
# The tests start the programs that lie beside them.
gtest_discover_tests(system_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)
