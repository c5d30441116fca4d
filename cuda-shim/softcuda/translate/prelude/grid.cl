// Behind stepped.cl, for a grid whose blocks wait for each other (cooperative launches). All of its blocks are under way,
// each in a slot of its own, and work-items run them by turns: a block that can do nothing but wait for others is left,
// and taken up again later.
enum { FAIRGV_BLOCK_NEW, FAIRGV_BLOCK_RUNS, FAIRGV_BLOCK_WAITS, FAIRGV_BLOCK_ENDED };

// The block's state before; it is this work-item's unless it runs or has ended. Its shared memory, of which `fixed` bytes are
// the static part, lies in its slot, too.
static uint fgv_take_block(struct fgv_block* G, ulong R, uint index, uint context, bool has_stack, ulong fixed) {
  FAIRGV_AS uint* flag = (FAIRGV_AS uint*)FAIRGV_RUNTIME(R)->scratch_flags + index;
  const uint state = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
  if (state == FAIRGV_BLOCK_ENDED || state == FAIRGV_BLOCK_RUNS) return state;
  if (!__sync_bool_compare_and_swap(flag, state, (uint)FAIRGV_BLOCK_RUNS)) return FAIRGV_BLOCK_RUNS;
  if (!fgv_place(G, R, index, context, has_stack)) return FAIRGV_BLOCK_ENDED;
  const ulong bytes = fixed + FAIRGV_RUNTIME(R)->dynamic_shared_bytes;
  if (G->shared + bytes > G->slot + FAIRGV_RUNTIME(R)->scratch_slot_bytes) {
    fgv_trap(R, 4, 0, 0, 0, 0, 0, 0, 0);
    return FAIRGV_BLOCK_ENDED;
  }
  if (state == FAIRGV_BLOCK_NEW) fgv_fill(G);
  for (uint t = 0; t < G->count; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    if (thread->state == FAIRGV_YIELD) thread->state = FAIRGV_READY;
  }
  return state;
}

// `x`, `y`, `z`: the block, which a trap in it could not know.
static void fgv_leave_block(struct fgv_block* G, ulong R, bool trapped, uint x, uint y, uint z) {
  FAIRGV_AS struct fgv_runtime* runtime = FAIRGV_RUNTIME(R);
  if (!trapped && runtime->trap_kind != 0 && runtime->trap_block[0] == (uint)get_group_id(0)) {
    runtime->trap_block[0] = x;
    runtime->trap_block[1] = y;
    runtime->trap_block[2] = z;
  }
  __atomic_store_n((FAIRGV_AS uint*)runtime->scratch_flags + G->index,
                   G->yields ? (uint)FAIRGV_BLOCK_WAITS : (uint)FAIRGV_BLOCK_ENDED, __ATOMIC_RELEASE);
}
