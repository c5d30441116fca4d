// The programs of a subject of the corpus: as the application wrote them, and rewritten for sub-launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicing/opencl_c.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/opencl/fixture.hpp"
#include "tests/integration/slicing/corpus.hpp"

namespace fairgv::test {

// As the application wrote the program, or rewritten for sub-launches of launches with so many dimensions.
enum class Form : std::uint32_t { kOriginal = 0, kSliceable1D = 1, kSliceable2D = 2, kSliceable3D = 3 };

class SlicingPrograms : public OpenCL {
 protected:
  static std::string in_form(Form form, const std::string& source) {
    return form == Form::kOriginal ? source
                                   : slicing::sliceable_source(source, static_cast<std::uint32_t>(form));
  }

  ProgramHandle program_of(const Subject& subject, Form form) const {
    std::string options = subject.options;
    if (subject.reads_header) {
      folder_.write("from_folder.h", kFolderHeader);
      options += " -I " + folder_.path().string();
    }
    if (subject.sources.size() == 1) return build(in_form(form, subject.sources[0]), options);
    return compiled_and_linked(subject, form, options);
  }

 private:
  ProgramHandle compiled_and_linked(const Subject& subject, Form form, const std::string& options) const {
    // A header may be rewritten like any other program: a front end need not know that the program is a
    // header.
    const ProgramHandle header = make_program(in_form(form, kProgramHeader));
    const cl_program header_object = header;
    const char* header_name = "from_program.h";
    std::vector<ProgramHandle> compiled;
    std::vector<cl_program> inputs;
    for (const std::string& source : subject.sources) {
      const ProgramHandle& program = compiled.emplace_back(make_program(in_form(form, source)));
      EXPECT_EQ(CL_SUCCESS, clCompileProgram(program, 0, nullptr, options.c_str(), 1, &header_object,
                                             &header_name, nullptr, nullptr));
      inputs.push_back(program);
    }
    cl_int error = CL_SUCCESS;
    ProgramHandle linked(clLinkProgram(context, 0, nullptr, "", static_cast<cl_uint>(inputs.size()),
                                       inputs.data(), nullptr, nullptr, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    return linked;
  }

  harness::TemporaryFolder folder_;
};

}  // namespace fairgv::test
