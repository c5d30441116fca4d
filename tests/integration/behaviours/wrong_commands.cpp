// Wrong arguments of commands: null, out of bounds, misaligned, overlapping, with lists that do not fit.
#include <array>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

using Triple = std::array<std::size_t, 3>;

constexpr std::size_t kBytes = 4096;
constexpr std::size_t kBeyond = SIZE_MAX - 16;
constexpr std::size_t kSide = 16;  // of an image

/// Memory of the program that a command may read or write.
std::array<char, 4 * kBytes> plenty;

std::string transfers(const Stage& s) {
  const cl_mem buffer = s.buffer(kBytes);
  const auto read = [&](std::size_t at, std::size_t bytes, void* to) {
    return clEnqueueReadBuffer(s.queue, buffer, CL_TRUE, at, bytes, to, 0, nullptr, nullptr);
  };
  const auto write = [&](std::size_t at, std::size_t bytes, const void* from) {
    return clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, at, bytes, from, 0, nullptr, nullptr);
  };
  Answer answer;
  answer.add("read to nowhere", read(0, 16, nullptr), -30).add("read nothing", read(0, 0, plenty.data()));
  answer.add("read wrapped", read(kBeyond, 64, plenty.data()), -30)
      .add("read at the end", read(kBytes, 1, plenty.data()), -30);
  answer.add("write from nowhere", write(0, 16, nullptr), -30)
      .add("write nothing", write(0, 0, plenty.data()));
  return answer.add("write wrapped", write(kBeyond, 64, plenty.data()), -30);
}

std::string transfers_against_flags(const Stage& s) {
  const auto read = [&](cl_mem_flags flags) {
    return clEnqueueReadBuffer(s.queue, s.buffer(kBytes, flags), CL_TRUE, 0, 16, plenty.data(), 0, nullptr,
                               nullptr);
  };
  const auto write = [&](cl_mem_flags flags) {
    return clEnqueueWriteBuffer(s.queue, s.buffer(kBytes, flags), CL_TRUE, 0, 16, plenty.data(), 0, nullptr,
                                nullptr);
  };
  Answer answer;
  answer.add("read what the host only writes", read(CL_MEM_HOST_WRITE_ONLY));
  answer.add("write what the host only reads", write(CL_MEM_HOST_READ_ONLY));
  answer.add("read what is not the host's", read(CL_MEM_HOST_NO_ACCESS));
  return answer.add("write what is not the host's", write(CL_MEM_HOST_NO_ACCESS));
}

std::string boxes(const Stage& s) {
  const cl_mem buffer = s.buffer(kBytes);
  const Triple start{}, region{16, 4, 2}, flat{16, 0, 1}, far{kBytes, 0, 0};
  const auto read = [&](const Triple& at, const Triple& box, std::size_t row, std::size_t slice) {
    return clEnqueueReadBufferRect(s.queue, buffer, CL_TRUE, at.data(), start.data(), box.data(), row, slice,
                                   row, slice, plenty.data(), 0, nullptr, nullptr);
  };
  Answer answer;
  answer.add("of nothing", read(start, flat, 0, 0), -30).add("beyond", read(far, region, 0, 0), -30);
  answer.add("short rows", read(start, region, 8, 0), -30)
      .add("short slices", read(start, region, 16, 32), -30);
  return answer.add("slices of no whole rows", read(start, region, 16, 72), -30);
}

std::string copies(const Stage& s) {
  const cl_mem from = s.buffer(kBytes), to = s.buffer(kBytes / 2);
  const auto copy = [&](cl_mem a, cl_mem b, std::size_t at, std::size_t to_at, std::size_t bytes) {
    return clEnqueueCopyBuffer(s.queue, a, b, at, to_at, bytes, 0, nullptr, nullptr);
  };
  Answer answer;
  answer.add("no bytes", copy(from, to, 0, 0, 0))
      .add("beyond the source", copy(from, to, kBytes, 0, 16), -30);
  answer.add("beyond the destination", copy(from, to, 0, kBytes / 2, 16), -30);
  return answer.add("wrapped", copy(from, to, kBeyond, 0, 64), -30).add("finish", clFinish(s.queue));
}

std::string fills(const Stage& s) {
  const auto fill = [&](const void* pattern, std::size_t pattern_bytes, std::size_t bytes) {
    return clEnqueueFillBuffer(s.queue, s.buffer(kBytes), pattern, pattern_bytes, 0, bytes, 0, nullptr,
                               nullptr);
  };
  Answer answer;
  answer.add("no pattern", fill(nullptr, 4, 64), -30)
      .add("pattern of nothing", fill(plenty.data(), 0, 64), -30);
  return answer.add("no bytes", fill(plenty.data(), 4, 0)).add("finish", clFinish(s.queue));
}

std::string maps(const Stage& s) {
  const auto map = [&](cl_mem_flags of, cl_map_flags flags, std::size_t at, std::size_t bytes) {
    cl_int error = CL_SUCCESS;
    clEnqueueMapBuffer(s.queue, s.buffer(kBytes, of), CL_TRUE, flags, at, bytes, 0, nullptr, nullptr, &error);
    return error;
  };
  Answer answer;
  answer.add("of nothing", map(0, CL_MAP_READ, 0, 0), -30)
      .add("beyond", map(0, CL_MAP_READ, kBytes, 16), -30);
  answer.add("unknown flags", map(0, 1U << 10, 0, 16), -30);
  answer.add("written and discarded", map(0, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 16), -30);
  return answer.add("against the flags", map(CL_MEM_HOST_NO_ACCESS, CL_MAP_READ, 0, 16), -59);
}

std::string unmaps(const Stage& s) {
  const cl_mem buffer = s.buffer(kBytes);
  const auto unmap = [&](void* at) {
    return clEnqueueUnmapMemObject(s.queue, buffer, at, 0, nullptr, nullptr);
  };
  Answer answer;
  answer.add("of what was not mapped", unmap(plenty.data()), -30).add("of nothing", unmap(nullptr), -30);
  cl_int error = CL_SUCCESS;
  void* const mapped =
      clEnqueueMapBuffer(s.queue, buffer, CL_TRUE, CL_MAP_READ, 0, kBytes, 0, nullptr, nullptr, &error);
  answer.add("once", unmap(mapped)).add("twice", unmap(mapped), -30);
  return answer.add("finish", clFinish(s.queue));
}

std::string migrations(const Stage& s) {
  const cl_mem buffer = s.buffer(kBytes);
  const cl_mem none = nullptr;
  const auto migrate = [&](cl_uint count, const cl_mem* list, cl_mem_migration_flags flags) {
    return clEnqueueMigrateMemObjects(s.queue, count, list, flags, 0, nullptr, nullptr);
  };
  Answer answer;
  answer.add("none", migrate(0, &buffer, 0), -30).add("no list", migrate(1, nullptr, 0), -30);
  return answer.add("a null one", migrate(1, &none, 0), -38)
      .add("unknown flags", migrate(1, &buffer, 1U << 10), -30);
}

cl_mem make_image(const Stage& s, cl_channel_order order = CL_RGBA) {
  const cl_image_format format{order, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = kSide;
  return clCreateImage(s.context, 0, &format, &description, nullptr, nullptr);
}

std::string image_transfers(const Stage& s) {
  const cl_mem image = make_image(s);
  if (image == nullptr) return "no images";
  const Triple start{}, all{kSide, kSide, 1}, nothing{0, kSide, 1}, deep{kSide, kSide, 2}, far{kSide, 0, 0};
  const auto read = [&](const Triple& at, const Triple& box, std::size_t row, void* to) {
    return clEnqueueReadImage(s.queue, image, CL_TRUE, at.data(), box.data(), row, 0, to, 0, nullptr,
                              nullptr);
  };
  Answer answer;
  answer.add("of nothing", read(start, nothing, 0, plenty.data()), -30)
      .add("beyond", read(far, all, 0, plenty.data()), -30);
  answer.add("of two slices", read(start, deep, 0, plenty.data()));
  return answer.add("short rows", read(start, all, 16, plenty.data()), -30)
      .add("to nowhere", read(start, all, 0, nullptr));
}

std::string image_copies(const Stage& s) {
  const cl_mem image = make_image(s), other = make_image(s, CL_R), buffer = s.buffer(64);
  if (image == nullptr) return "no images";
  const Triple start{}, all{kSide, kSide, 1}, corner{1, 1, 0}, most{kSide - 1, kSide - 1, 1};
  Answer answer;
  answer.add("to another format", clEnqueueCopyImage(s.queue, image, other, start.data(), start.data(),
                                                     all.data(), 0, nullptr, nullptr));
  answer.add("onto itself",
             clEnqueueCopyImage(s.queue, image, image, start.data(), corner.data(), most.data(), 0, nullptr,
                                nullptr),
             -8);
  answer.add(
      "to a buffer that is too small",
      clEnqueueCopyImageToBuffer(s.queue, image, buffer, start.data(), all.data(), 0, 0, nullptr, nullptr),
      -30);
  return answer.add(
      "from one",
      clEnqueueCopyBufferToImage(s.queue, buffer, image, 0, start.data(), all.data(), 0, nullptr, nullptr),
      -30);
}

std::string wait_lists(const Stage& s) {
  const cl_mem buffer = s.buffer(kBytes);
  const cl_event event = s.user_event();
  const cl_event none = nullptr;
  clSetUserEventStatus(event, CL_COMPLETE);
  const auto marker = [&](cl_uint count, const cl_event* list) {
    return clEnqueueMarkerWithWaitList(s.queue, count, list, nullptr);
  };
  Answer answer;
  answer.add("events, no list", marker(1, nullptr)).add("list, no events", marker(0, &event));
  answer.add("a null one", marker(1, &none));
  answer.add("of a read",
             clEnqueueReadBuffer(s.queue, buffer, CL_TRUE, 0, 16, plenty.data(), 1, nullptr, nullptr));
  answer.add("of a barrier", clEnqueueBarrierWithWaitList(s.queue, 1, nullptr, nullptr));
  return answer.add("wait for none", clWaitForEvents(0, &event))
      .add("for no list", clWaitForEvents(1, nullptr));
}

/// The queues of one context refuse events, memory and kernels of another.
std::string other_contexts(const Stage& s) {
  cl_int error = CL_SUCCESS;
  Stage other = s;
  other.context = clCreateContext(nullptr, 1, &s.device, nullptr, nullptr, &error);
  const cl_event event = other.user_event();
  const cl_mem foreign = other.buffer(kBytes);
  const std::size_t items = 1;
  clSetUserEventStatus(event, CL_COMPLETE);
  Answer answer;
  answer.add("event", clEnqueueMarkerWithWaitList(s.queue, 1, &event, nullptr), -34);
  answer.add("buffer",
             clEnqueueReadBuffer(s.queue, foreign, CL_TRUE, 0, 16, plenty.data(), 0, nullptr, nullptr), -34);
  answer.add("destination",
             clEnqueueCopyBuffer(s.queue, s.buffer(64), foreign, 0, 0, 16, 0, nullptr, nullptr), -34);
  const cl_kernel kernel = other.kernel("kernel void k() {}", "k");
  return answer.add("kernel",
                    clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
                    -34);
}

std::string arguments(const Stage& s) {
  const cl_kernel kernel = s.kernel(
      "kernel void k(global uint* a, constant uint* b, read_only image2d_t c, sampler_t d, local uint* e) {}",
      "k");
  const cl_mem buffer = s.buffer(64), image = make_image(s);
  const cl_mem none = nullptr;
  const auto set = [&](cl_uint index, std::size_t bytes, const void* value) {
    return clSetKernelArg(kernel, index, bytes, value);
  };
  Answer answer;
  answer.add("no buffer", set(0, sizeof(none), &none)).add("null", set(0, sizeof(none), nullptr));
  answer.add("no constants", set(1, sizeof(none), &none));
  if (image != nullptr) answer.add("image for a buffer", set(0, sizeof(image), &image), -38);
  answer.add("image of another size", set(2, 4, &image));
  return answer.add("sampler of another size", set(3, 4, &buffer), -51);
}

std::string offsets(const Stage& s) {
  const cl_kernel kernel = s.kernel("kernel void k() {}", "k");
  const std::size_t items = 64, offset = SIZE_MAX - 8;
  return Answer().add(
      "wrapped", clEnqueueNDRangeKernel(s.queue, kernel, 1, &offset, &items, nullptr, 0, nullptr, nullptr),
      -56);
}

std::string shared_memory(const Stage& s) {
  if (s.device_info<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) == 0) return "no such memory";
  void* const shared = clSVMAlloc(s.context, CL_MEM_READ_WRITE, kBytes, 0);
  const auto given = [&](cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
    return clSVMAlloc(s.context, flags, bytes, alignment) != nullptr;
  };
  Answer answer;
  answer.add("room for nothing", given(CL_MEM_READ_WRITE, 0, 0))
      .add("aligned to 3", given(CL_MEM_READ_WRITE, 64, 3));
  answer.add("read and write only", given(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0));
  answer.add("copy to nowhere",
             clEnqueueSVMMemcpy(s.queue, CL_TRUE, nullptr, plenty.data(), 16, 0, nullptr, nullptr));
  answer.add(
      "onto itself",
      clEnqueueSVMMemcpy(s.queue, CL_TRUE, static_cast<char*>(shared) + 8, shared, 64, 0, nullptr, nullptr),
      -8);
  answer.add("fill without a pattern",
             clEnqueueSVMMemFill(s.queue, shared, nullptr, 4, 64, 0, nullptr, nullptr));
  answer.add("fill by 3", clEnqueueSVMMemFill(s.queue, shared, plenty.data(), 3, 63, 0, nullptr, nullptr));
  answer.add("map of nothing",
             clEnqueueSVMMap(s.queue, CL_TRUE, CL_MAP_READ, shared, 0, 0, nullptr, nullptr));
  answer.add("map of nowhere",
             clEnqueueSVMMap(s.queue, CL_TRUE, CL_MAP_READ, nullptr, 64, 0, nullptr, nullptr));
  return answer.add("unmap of nowhere", clEnqueueSVMUnmap(s.queue, nullptr, 0, nullptr, nullptr));
}

std::string user_events(const Stage& s) {
  cl_event marker = nullptr;
  clEnqueueMarkerWithWaitList(s.queue, 0, nullptr, &marker);
  Answer answer;
  answer.add("to running", clSetUserEventStatus(s.user_event(), CL_RUNNING), -30);
  answer.add("to 17", clSetUserEventStatus(s.user_event(), 17), -30);
  return answer.add("of a command", clSetUserEventStatus(marker, CL_COMPLETE), -58);
}

}  // namespace

std::vector<Question> wrong_commands() {
  return {
      {"transfers done wrongly", transfers},
      {"transfers against the buffer's flags", transfers_against_flags},
      {"boxes given wrongly", boxes},
      {"copies done wrongly", copies},
      {"fills done wrongly", fills},
      {"maps done wrongly", maps},
      {"unmaps done wrongly", unmaps},
      {"migrations done wrongly", migrations},
      {"images transferred wrongly", image_transfers},
      {"images copied wrongly", image_copies},
      {"wait lists given wrongly", wait_lists},
      {"objects of another context", other_contexts},
      {"arguments given wrongly", arguments},
      {"offset beyond all sizes", offsets},
      {"shared virtual memory used wrongly", shared_memory},
      {"user events set wrongly", user_events},
  };
}

}  // namespace fairgv::behaviours
