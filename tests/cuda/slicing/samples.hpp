// Small PTX modules for the tests of the PTX slicer.
#pragma once

#include <string_view>

namespace fairgv::slicing_test {

// Parameters that end at an odd offset; a comment at the end of the list; a name that the rewriting would
// take.
inline constexpr std::string_view kEntry = R"(.version 8.7
.target sm_75
.address_size 64
.visible .entry scale(
	.param .u64 out,
	.param .align 1 .b8 odd[3] // three )
)
.maxntid 64, 1, 1
{
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [out];
	mov.u32 	%r1, %ctaid.x; mov.u32 %r2, %nctaid/* the number */.y;
	cvt.u64.u32 	%rd2, %ctaid.x;
	{ .reg .b32 %fairgv_part_ctaid_x; mov.u32 %fairgv_part_ctaid_x, %ctaid.r; add.u32 %r1, %r1, %fairgv_part_ctaid_x; }
	mad.lo.u32 	%r3, %r1, %r2, %r1;
	shl.b64 	%rd3, %rd2, 2;
	add.u64 	%rd4, %rd1, %rd3;
	st.global.u32 	[%rd4], %r3;
	ret;
}
)";

// Functions that read the values themselves, through others, in a circle, or are declared first; entries that
// are cut and entries that are not share them.
inline constexpr std::string_view kFunctions = R"(.version 8.7
.target sm_75
.address_size 64
.func (.param .b32 r) column (.param .b32 weight);
.func circle;
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.func (.param .b32 r) column (.param .b32 weight)
{
	.reg .b32 %a, %b;
	ld.param.b32 %a, [weight];
	mov.u32 %b, %ctaid.x;
	add.u32 %a, %a, %b;
	st.param.b32 [r], %a;
	ret;
}
.func circle { .reg .b32 %a; .reg .pred %call; mov.u32 %a, %nctaid.z; setp.lt.u32 %call, %a, 4;
	@!%call call circle;
	ret; }
.func quiet () { ret; }
.func (.param .b32 r) both (.param .b64 p)
{
	.reg .b32 %a<4>; .reg .pred %p; .reg .b64 %rd;
	ld.param.b64 %rd, [p];
	mov.u32 %a0, %tid.x;
	setp.eq.u32 %p, %a0, 3;
	{ // callseq
	.param .b32 in0;
	st.param.b32 [in0], %a0;
	.param .b32 out0;
	call.uni (out0), 
	column, 
	(
	in0
	);
	ld.param.b32 %a1, [out0];
	}
here:
	@%p call circle, ();
	call quiet, ();
	st.param.b32 [r], %a1;
	ret;
}
.visible .entry cut (.param .u64 p)
{
	.reg .b32 %a<4>; .reg .b64 %rd; .reg .pred %q;
	ld.param.u64 %rd, [p];
	{ .param .b64 in0; st.param.b64 [in0], %rd; .param .b32 out0; call (out0), both, (in0); ld.param.b32 %a1, [out0]; }
	st.global.u32 [%rd], %a1;
	ret;
}
.visible .entry silent () { call quiet, (); ret; }
.visible .entry whole (.param .u64 p)
{
	.reg .b32 %a<4>; .reg .b64 %rd;
	ld.param.u64 %rd, [p];
	mov.u32 %a2, %envreg2;
	mov.u32 %a3, %ctaid.y;
	{ .param .b32 in0; st.param.b32 [in0], %a2; .param .b32 out0; call (out0), column, (in0); ld.param.b32 %a1, [out0]; }
	st.global.v2.u32 [%rd], {%a1, %a3};
	ret;
}
.entry bare { .reg .b32 %a; mov.b32 %a, %nctaid.y; ret; }
)";

// Calls through addresses.
inline constexpr std::string_view kPointers = R"(.version 8.7
.target sm_75
.address_size 64
.func (.param .b32 r) reader () { .reg .b32 %a; mov.u32 %a, %ctaid.x; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) other () { .reg .b32 %a; mov.u32 %a, %ctaid.y; st.param.b32 [r], %a; ret; }
.func through () { .param .b32 o; call (o), other, (); ret; }
.global .align 8 .u64 table[1] = {reader};
.visible .entry indirect (.param .u64 p)
{
	.reg .b64 %rd<3>; .reg .b32 %r;
	ld.param.u64 %rd1, [p];
	ld.global.u64 %rd2, [table];
	{ .param .b32 o;
	prototype : .callprototype (.param .b32 _) _ ();
	call (o), %rd2, (), prototype;
	ld.param.b32 %r, [o]; }
	st.global.u32 [%rd1], %r;
	ret;
}
.visible .entry direct () { .param .b32 o; call (o), reader, (); ret; }
.visible .entry beside () { .param .b32 o; call (o), other, (); call through, (); ret; }
)";

inline constexpr std::string_view kClusters = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry asks () { .reg .b32 %r; mov.u32 %r, %clusterid.x; ret; }
.visible .entry waits () { barrier.cluster.arrive; barrier.cluster.wait; ret; }
.visible .entry said () .reqnctapercluster 2, 1, 1 { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }
.visible .entry chained () { .reg .b32 %r; mov.u32 %r, %ctaid.x; griddepcontrol.wait; ret; }
.visible .entry plain () { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }
)";

// Forms that people write by hand, but no compiler does.
inline constexpr std::string_view kUnusual = R"(.version 8.7
.target sm_75
.address_size 64
.extern .func elsewhere ();
.visible .entry vector () { .reg .b32 %r<4>; mov.v4.u32 {%r0, %r1, %r2, %r3}, %ctaid; ret; }
.visible .entry narrow () { .reg .b16 %s; mov.u16 %s, %ctaid.x; ret; }
.visible .entry constant () { .reg .b32 %r; mov.u32 %r, %ctaid.w; ret; }
.visible .entry halves () { .reg .b16 %s<2>; mov.b32 {%s0, %s1}, %nctaid.z; ret; }
)";

}  // namespace fairgv::slicing_test
