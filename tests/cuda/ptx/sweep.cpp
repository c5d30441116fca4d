#include "tests/cuda/ptx/sweep.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <sstream>

#include "tests/cuda/ptx/device.hpp"

namespace fairgv::ptx_test {
namespace {

// Loads the operands in every width, runs the forms one after the other, and stores each result as 64 bits.
std::string kernel_text(const std::vector<Form>& forms) {
  std::ostringstream text;
  text << ".version 8.0\n.target sm_90\n.address_size 64\n"
          ".visible .entry sweep(.param .u64 in, .param .u64 out, .param .u32 count)\n{\n"
          ".reg .pred %p<3>, %pa, %pb, %pc, %dp;\n"
          ".reg .b16 %a16, %b16, %c16, %d16, %h<8>;\n"
          ".reg .b32 %a32, %b32, %c32, %d32, %r<8>, %x<8>;\n"
          ".reg .b64 %a64, %b64, %c64, %d64, %rd<8>, %y<8>;\n"
          "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nld.param.u32 %r1, [count];\n"
          "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
          "mad.lo.u32 %r5, %r2, %r3, %r4;\nsetp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
          "mad.wide.u32 %rd3, %r5, 24, %rd1;\n"
       << "mad.wide.u32 %rd4, %r5, " << forms.size() * 8 << ", %rd2;\n"
       << "ld.global.u64 %a64, [%rd3];\nld.global.u64 %b64, [%rd3+8];\nld.global.u64 %c64, [%rd3+16];\n";
  for (const char* name : {"a", "b", "c"}) {
    text << "cvt.u32.u64 %" << name << "32, %" << name << "64;\ncvt.u16.u64 %" << name << "16, %" << name
         << "64;\n"
         << "and.b32 %r6, %" << name << "32, 1;\nsetp.ne.u32 %p" << name << ", %r6, 0;\n";
  }
  for (std::size_t form = 0; form < forms.size(); ++form) {
    text << "mov.b64 %d64, 0;\nmov.b32 %d32, 0;\nmov.b16 %d16, 0;\n" << forms[form].text << "\n";
    if (forms[form].bits == 1) text << "selp.b64 %d64, 1, 0, %dp;\n";
    if (forms[form].bits == 16) text << "cvt.u64.u16 %d64, %d16;\n";
    if (forms[form].bits == 32) text << "cvt.u64.u32 %d64, %d32;\n";
    text << "st.global.u64 [%rd4+" << form * 8 << "], %d64;\n";
  }
  text << "DONE:\nret;\n}\n";
  return text.str();
}

bool half_equal(std::uint64_t a, std::uint64_t b, std::uint64_t infinity) {
  const bool both_nan = (a & 0x7fff) > infinity && (b & 0x7fff) > infinity;
  return both_nan || (a & 0xffff) == (b & 0xffff);
}

bool equal(const Form& form, std::uint64_t expected, std::uint64_t seen) {
  const auto as_float = [](std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  };
  switch (form.compare) {
    case Compare::kBits:
      return expected == seen;
    case Compare::kFloat32:
      return expected == seen || (std::isnan(as_float(expected)) && std::isnan(as_float(seen)));
    case Compare::kFloat64:
      return expected == seen ||
             (std::isnan(std::bit_cast<double>(expected)) && std::isnan(std::bit_cast<double>(seen)));
    case Compare::kFloat16:
      return half_equal(expected, seen, 0x7c00);
    case Compare::kBfloat16:
      return half_equal(expected, seen, 0x7f80);
    case Compare::kFloat16x2:
      return half_equal(expected, seen, 0x7c00) && half_equal(expected >> 16, seen >> 16, 0x7c00);
    case Compare::kApproximate: {
      const float a = as_float(expected);
      const float b = as_float(seen);
      if (std::isnan(a) || std::isinf(a)) return std::isnan(a) ? std::isnan(b) : a == b;
      return std::fabs(static_cast<double>(a) - b) <=
             form.tolerance * std::max(1.0, std::fabs(static_cast<double>(a)));
    }
  }
  return false;
}

using Values = std::vector<std::uint64_t>;

std::vector<Inputs> crossed(const Values& edges, std::uint64_t seed,
                            const std::function<std::uint64_t(std::mt19937_64&)>& random) {
  std::mt19937_64 generator(seed);
  std::vector<Inputs> inputs;
  const auto any = [&] { return edges[generator() % edges.size()]; };
  for (const std::uint64_t a : edges) {
    for (const std::uint64_t b : edges) inputs.push_back({a, b, any()});
  }
  const std::size_t count = inputs.size();
  for (std::size_t n = 0; n < count; ++n) {
    const auto pick = [&] { return generator() % 4 == 0 ? any() : random(generator); };
    inputs.push_back({pick(), pick(), pick()});
  }
  return inputs;
}

}  // namespace

std::string replaced(std::string text, unsigned bits, const std::string& type) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"$t", type}, {"$", std::to_string(bits)}}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  return text;
}

void expect_forms(const std::string& name, const std::vector<Form>& forms,
                  const std::vector<Inputs>& inputs) {
  Module module(kernel_text(forms));
  Memory<Inputs> in(inputs);
  Memory<std::uint64_t> out(inputs.size() * forms.size());
  Parameters parameters;
  parameters.add(in.address()).add(out.address()).add(static_cast<std::uint32_t>(inputs.size()));
  module.launch("sweep", {(inputs.size() + 63) / 64, 1, 1}, {64, 1, 1}, parameters);
  for (std::size_t form = 0; form < forms.size(); ++form) {
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      const std::uint64_t expected = forms[form].expected(inputs[n]);
      const std::uint64_t seen = out[n * forms.size() + form];
      if (equal(forms[form], expected, seen) || wrong++ > 0) continue;
      ADD_FAILURE() << name << ": " << forms[form].text << std::hex << "\n  a=0x" << inputs[n].a << " b=0x"
                    << inputs[n].b << " c=0x" << inputs[n].c << "\n  expected 0x" << expected << ", seen 0x"
                    << seen;
    }
    EXPECT_EQ(wrong, 0u) << forms[form].text;
  }
}

std::vector<Inputs> integer_inputs(std::uint64_t seed) {
  return crossed({0,
                  1,
                  2,
                  7,
                  15,
                  16,
                  31,
                  32,
                  33,
                  63,
                  64,
                  0x7f,
                  0x80,
                  0xff,
                  0x7fff,
                  0x8000,
                  0xffff,
                  0x7fffffff,
                  0x80000000,
                  0xffffffff,
                  0x100000000,
                  0x7fffffffffffffff,
                  0x8000000000000000,
                  0xffffffffffffffff},
                 seed, [](std::mt19937_64& generator) { return generator() >> (generator() % 64); });
}

std::vector<Inputs> float_inputs(std::uint64_t seed) {
  return crossed(
      {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
       0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
       0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x5f000000, 0xdf000000, 0x3f7fffff},
      seed, [](std::mt19937_64& generator) {
        // Half of them near each other in magnitude, so that sums cancel and round.
        if (generator() % 2 == 0) return generator() & 0xffffffff;
        return (generator() & 0x807fffff) | ((120 + generator() % 16) << 23);
      });
}

std::vector<Inputs> double_inputs(std::uint64_t seed) {
  return crossed(
      {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000,
       0x3ff8000000000000, 0x4004000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
       0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
       0xffefffffffffffff, 0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x43e0000000000000,
       0xc3e0000000000000, 0x47efffffe0000000, 0x36a0000000000000, 0x3810000000000000},
      seed, [](std::mt19937_64& generator) {
        if (generator() % 3 == 0) return generator();
        const std::uint64_t exponent =
            generator() % 2 == 0 ? 1015 + generator() % 16 : 860 + generator() % 300;
        return (generator() & 0x800fffffffffffff) | (exponent << 52);
      });
}

std::vector<Inputs> half_inputs(std::uint64_t seed) {
  return crossed({0x00000000, 0x80008000, 0x3c003c00, 0xbc003c00, 0x38003800, 0x7c00fc00, 0xfc007c00,
                  0x7e007e01, 0x00010001, 0x80010001, 0x03ff03ff, 0x04000400, 0x7bff7bff, 0xfbff7bff,
                  0x3c013c01, 0x3bff3bff, 0x3f803f80, 0x7f807f80, 0x7f7f7f7f, 0x00800080, 0xff80ff80},
                 seed, [](std::mt19937_64& generator) {
                   if (generator() % 2 == 0) return generator() & 0xffffffff;
                   return (generator() & 0x83ff83ff) | ((12 + generator() % 8) << 10) |
                          ((12 + generator() % 8) << 26);
                 });
}

}  // namespace fairgv::ptx_test
