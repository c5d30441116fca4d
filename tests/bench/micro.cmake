# Benchmarks of the scheduling decision and of tracing; included by tests/bench/CMakeLists.txt.
find_package(benchmark REQUIRED)
add_executable(bench_sched_decision ${CMAKE_CURRENT_LIST_DIR}/micro/sched_decision.cpp)
target_link_libraries(bench_sched_decision PRIVATE fairgv_sched fairgv_warnings benchmark::benchmark)
add_executable(bench_tracing ${CMAKE_CURRENT_LIST_DIR}/micro/tracing.cpp)
target_link_libraries(bench_tracing PRIVATE fairgv_vgpu fairgv_warnings benchmark::benchmark)
