// Carries out the steps of a plan. Each function throws Unexpected when OpenCL does not do what it should.
#pragma once

#include "tests/moves/executor/objects.hpp"

namespace fairgv::moves {

// objects.cpp
void carry_out(Objects& objects, const MakeContext& step);
void carry_out(Objects& objects, const MakeQueue& step);
void carry_out(Objects& objects, const MakeBuffer& step);
void carry_out(Objects& objects, const MakeSubBuffer& step);
void carry_out(Objects& objects, const MakeImage& step);
void carry_out(Objects& objects, const MakeSampler& step);
void carry_out(Objects& objects, const MakeSvm& step);
void carry_out(Objects& objects, const FreeSvm& step);
void carry_out(Objects& objects, const Retain& step);
void carry_out(Objects& objects, const Release& step);

// programs.cpp
void carry_out(Objects& objects, const MakeProgram& step);
void carry_out(Objects& objects, const Rebuild& step);
void carry_out(Objects& objects, const MakeKernel& step);
void carry_out(Objects& objects, const CloneKernel& step);
void carry_out(Objects& objects, const SetArgument& step);

// commands.cpp
void carry_out(Objects& objects, const Enqueue& step);

// events.cpp
void carry_out(Objects& objects, const Flush& step);
void carry_out(Objects& objects, const Finish& step);
void carry_out(Objects& objects, const WaitForEvents& step);
void carry_out(Objects& objects, const MakeUserEvent& step);
void carry_out(Objects& objects, const EndUserEvent& step);
void carry_out(Objects& objects, const AddCallback& step);
void carry_out(Objects& objects, const LookAtEvent& step);
void carry_out(Objects& objects, const TouchMapping& step);
void carry_out(Objects& objects, const Check& step);

// recordings.cpp
void carry_out(Objects& objects, const Record& step);

// looks.cpp
void carry_out(Objects& objects, const LookAtObject& step);

// mistakes.cpp
void carry_out(Objects& objects, const LaunchWithoutArguments& step);
void carry_out(Objects& objects, const BuildWithError& step);
void carry_out(Objects& objects, const WrongCalls& step);
void carry_out(Objects& objects, const FailUserEvent& step);

}  // namespace fairgv::moves
