# FAIRGV_SANITIZE=address | thread: what the asan and tsan presets set.
set(FAIRGV_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
if(FAIRGV_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(FAIRGV_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT FAIRGV_SANITIZE STREQUAL "")
  message(FATAL_ERROR "FAIRGV_SANITIZE is '${FAIRGV_SANITIZE}': use address, thread, or nothing")
endif()

# With sanitizers GCC 12 takes parts of its own std::function for uninitialized (std::regex shows it).
if(FAIRGV_SANITIZE)
  add_compile_options(-Wno-maybe-uninitialized)
endif()
