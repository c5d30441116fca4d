// Every exported function is one jump through fairgv_direct_targets (symbols.hpp): to the driver's function of its name, or to
// ours where that stands at a gate. No register but a scratch one is touched, so that any signature passes.
        .text
        .set    fairgv_row, 0

#if defined(__x86_64__)
#define FAIRGV_JUMP endbr64; jmp *(fairgv_direct_targets + 8 * fairgv_row)(%rip)
#define FAIRGV_ALIGN .p2align 4
#elif defined(__aarch64__)
// hint #34 is "bti c": a landing pad where the processor asks for such.
#define FAIRGV_JUMP \
        hint    #34; \
        adrp    x16, fairgv_direct_targets + 8 * fairgv_row; \
        ldr     x16, [x16, #:lo12:fairgv_direct_targets + 8 * fairgv_row]; \
        br      x16
#define FAIRGV_ALIGN .p2align 4
#else
#error "direct mode has trampolines for x86-64 and aarch64 only"
#endif

        .hidden fairgv_direct_targets

#define FAIRGV_ENTRY(symbol, name, stream, version, served) \
        .globl  symbol; \
        .type   symbol, %function; \
        FAIRGV_ALIGN; \
symbol: \
        .cfi_startproc; \
        FAIRGV_JUMP; \
        .cfi_endproc; \
        .size   symbol, . - symbol; \
        .set    fairgv_row, fairgv_row + 1;
#include "cuda-shim/api/entry/entry_points.def"

        .section .note.GNU-stack, "", %progbits
#if defined(__x86_64__)
// The object supports indirect branch tracking and shadow stacks, as the compiler's own objects do.
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0
#endif
