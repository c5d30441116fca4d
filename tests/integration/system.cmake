add_executable(opencl_life opencl_life.cpp)
target_link_libraries(opencl_life PRIVATE workload_support fairgv_warnings Threads::Threads)
add_executable(opencl_unload opencl_unload.cpp)
target_link_libraries(opencl_unload PRIVATE fairgv_warnings ${CMAKE_DL_LIBS})

add_executable(system_test system_bench_test.cpp system_doctor_test.cpp system_experiments_test.cpp system_programs_test.cpp system_faults_test.cpp system_input_test.cpp
  system_life_test.cpp system_placement_test.cpp system_readme_test.cpp)
target_link_libraries(system_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main)
target_compile_definitions(system_test PRIVATE
  FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_BENCHMARKS=$<BOOL:${FAIRGV_BUILD_BENCHMARKS}>
  FAIRGV_SANITIZED=$<BOOL:${FAIRGV_SANITIZE}>)
add_dependencies(system_test fairgv fairgvd fairgv-vgpu fairgv-opencl opencl_api_test opencl_life opencl_unload)
# The tests start the programs that lie beside them.
gtest_discover_tests(system_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)
