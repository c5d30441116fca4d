// Kernels with warp operations, or with barriers that not all threads reach on one way: one work-item runs the threads
// of its block in turn, each until it waits or ends, and this part decides who may go on. It follows the PTX ISA's
// "Parallel Synchronization and Communication Instructions" and the independent thread scheduling of sm_70 and later: a
// warp operation is complete when all living threads of its mask have arrived at one of its kind.
enum {
  FAIRGV_READY,
  FAIRGV_DONE,
  FAIRGV_MBARRIER,  // value: the barrier's address; it waits until fgv_mbarrier_done(value, a, b)
  FAIRGV_YIELD,     // until the threads of all other blocks have been looked after
  // warp operations
  FAIRGV_ACTIVEMASK,
  FAIRGV_BAR_WARP,
  FAIRGV_SHFL_UP,
  FAIRGV_SHFL_DOWN,
  FAIRGV_SHFL_BFLY,
  FAIRGV_SHFL_IDX,
  FAIRGV_VOTE_ALL,
  FAIRGV_VOTE_ANY,
  FAIRGV_VOTE_UNI,
  FAIRGV_VOTE_BALLOT,
  FAIRGV_MATCH_ANY,
  FAIRGV_MATCH_ALL,
  FAIRGV_ELECT,
  FAIRGV_REDUX_ADD,
  FAIRGV_REDUX_MIN_S32,
  FAIRGV_REDUX_MAX_S32,
  FAIRGV_REDUX_MIN_U32,
  FAIRGV_REDUX_MAX_U32,
  FAIRGV_REDUX_AND,
  FAIRGV_REDUX_OR,
  FAIRGV_REDUX_XOR,
  FAIRGV_LDMATRIX,    // a: matrices, b: transposed, value: the address of a row
  FAIRGV_MOVMATRIX,
  FAIRGV_WARP_LAST = FAIRGV_MOVMATRIX,
  // barriers of the block: a is the barrier, b the number of threads or 0 for all
  FAIRGV_BAR_SYNC,
  FAIRGV_BAR_POPC,
  FAIRGV_BAR_AND,
  FAIRGV_BAR_OR,
};

// 64 bytes, one per thread at the beginning of the scratch slot.
struct fgv_thread {
  uint pc, state;
  uint x, y, z;
  uint mask, a, b;
  ulong value, result;
  uint flag, frame, area, unused;
};
#define FAIRGV_BLOCK_BYTES 64

// A block that is being run: its scratch is 16 counts of threads that have arrived without waiting, then the threads,
// then the threads' own memory (`context` bytes each), then their call stacks.
struct fgv_block {
  ulong slot, threads, contexts, stacks, own_bytes, shared;
  uint count, index, stack_bytes;
  bool yields;  // a thread waits for other blocks
};
#define FAIRGV_THREAD(G, t) ((FAIRGV_AS struct fgv_thread*)((G).threads + (t) * 64ul))

// False: there is too little scratch.
static bool fgv_place(struct fgv_block* G, ulong R, uint index, uint context, bool has_stack) {
  FAIRGV_AS struct fgv_runtime* runtime = FAIRGV_RUNTIME(R);
  G->count = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
  G->stack_bytes = has_stack ? runtime->stack_bytes : 0;
  G->own_bytes = G->count * ((ulong)context + G->stack_bytes);
  if (index >= runtime->scratch_slots || runtime->scratch_slot_bytes < FAIRGV_BLOCK_BYTES + G->count * 64ul + G->own_bytes) {
    fgv_trap(R, 4, 0, 0, 0, 0, 0, 0, 0);
    return false;
  }
  G->index = index;
  G->slot = runtime->scratch_address + index * runtime->scratch_slot_bytes;
  G->threads = G->slot + FAIRGV_BLOCK_BYTES;
  G->contexts = G->threads + G->count * 64ul;
  G->stacks = G->contexts + G->count * (ulong)context;
  G->shared = (G->contexts + G->own_bytes + 15) & ~15ul;
  G->yields = false;
  return true;
}

static void fgv_fill(struct fgv_block* G) {
  const uint nx = (uint)get_local_size(0), ny = (uint)get_local_size(1);
  for (uint i = 0; i < 16; ++i) FAIRGV_AT(uint, G->slot + 4 * i) = 0;
  uint x = 0, y = 0, z = 0;
  for (uint t = 0; t < G->count; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    thread->pc = 0;
    thread->state = FAIRGV_READY;
    thread->frame = thread->area = 0;
    thread->x = x;
    thread->y = y;
    thread->z = z;
    if (++x == nx) {
      x = 0;
      if (++y == ny) y = 0, ++z;
    }
  }
}

static bool fgv_begin(struct fgv_block* G, ulong R, uint context, bool has_stack) {
  FAIRGV_AS struct fgv_runtime* runtime = FAIRGV_RUNTIME(R);
  if (!fgv_place(G, R, 0, context, has_stack)) return false;
  uint index = 0;
  while (!__sync_bool_compare_and_swap((FAIRGV_AS uint*)runtime->scratch_flags + index, 0u, 1u)) {
    index = index + 1 < runtime->scratch_slots ? index + 1 : 0;
  }
  fgv_place(G, R, index, context, has_stack);
  fgv_fill(G);
  return true;
}

static void fgv_end(struct fgv_block* G, ulong R) {
  __atomic_store_n((FAIRGV_AS uint*)FAIRGV_RUNTIME(R)->scratch_flags + G->index, 0u, __ATOMIC_RELEASE);
}

static uint fgv_shfl_source(uint kind, uint lane, uint b, uint c, uint* inside) {
  const uint segment = (c >> 8) & 31, bound = (lane & segment) | (c & 31 & ~segment);
  const uint first = lane & segment;
  int j;
  b &= 31;
  if (kind == FAIRGV_SHFL_UP) {
    j = (int)lane - (int)b;
    *inside = j >= (int)bound;
  } else {
    j = kind == FAIRGV_SHFL_DOWN ? (int)(lane + b) : kind == FAIRGV_SHFL_BFLY ? (int)(lane ^ b) : (int)(first | (b & ~segment));
    *inside = j <= (int)bound;
  }
  return *inside ? (uint)j : lane;
}

static uint fgv_redux(uint kind, uint x, uint y) {
  switch (kind) {
    case FAIRGV_REDUX_ADD:
      return x + y;
    case FAIRGV_REDUX_MIN_S32:
      return (int)x < (int)y ? x : y;
    case FAIRGV_REDUX_MAX_S32:
      return (int)x > (int)y ? x : y;
    case FAIRGV_REDUX_MIN_U32:
      return x < y ? x : y;
    case FAIRGV_REDUX_MAX_U32:
      return x > y ? x : y;
    case FAIRGV_REDUX_AND:
      return x & y;
    case FAIRGV_REDUX_OR:
      return x | y;
    default:
      return x ^ y;
  }
}

// What the whole group gets: a vote's answer, the result of redux, the lane that elect chooses.
static uint fgv_common(FAIRGV_AS struct fgv_thread* warp, uint kind, uint group) {
  uint ballot = 0, total = 0;
  bool first = true, same = true;
  const ulong value = warp[__builtin_ctz(group)].value;
  for (uint lanes = group; lanes != 0; lanes &= lanes - 1) {
    const uint lane = (uint)__builtin_ctz(lanes);
    const ulong other = warp[lane].value;
    if (other != 0) ballot |= 1u << lane;
    same = same && other == value;
    total = first ? (uint)other : fgv_redux(kind, total, (uint)other);
    first = false;
  }
  switch (kind) {
    case FAIRGV_VOTE_ALL:
      return ballot == group;
    case FAIRGV_VOTE_ANY:
      return ballot != 0;
    case FAIRGV_VOTE_UNI:
      return ballot == group || ballot == 0;
    case FAIRGV_VOTE_BALLOT:
      return ballot;
    case FAIRGV_MATCH_ALL:
      return same ? group : 0;
    case FAIRGV_ELECT:
      return (uint)__builtin_ctz(group);
    case FAIRGV_ACTIVEMASK:
      return group;
    default:
      return total;
  }
}

// Matrices of 8 by 8 halves: a lane gets two halves of each, from the rows that other lanes name. They are in `value`
// and `result`, 4 bytes of each matrix. All are read before the warp goes on.
static void fgv_load_matrices(FAIRGV_AS struct fgv_thread* warp) {
  ulong rows[32];
  for (uint lane = 0; lane < 32; ++lane) rows[lane] = warp[lane].value;
  for (uint lane = 0; lane < 32; ++lane) {
    FAIRGV_AS struct fgv_thread* thread = warp + lane;
    uint words[4] = {0, 0, 0, 0};
    for (uint matrix = 0; matrix < min(thread->a, 4u); ++matrix) {
      const uint row = lane >> 2, column = (lane & 3) * 2;
      words[matrix] = thread->b == 0
                          ? FAIRGV_AT(fgv_u32, rows[matrix * 8 + row] + 2 * column)
                          : FAIRGV_AT(fgv_u16, rows[matrix * 8 + column] + 2 * row) |
                                (uint)FAIRGV_AT(fgv_u16, rows[matrix * 8 + column + 1] + 2 * row) << 16;
    }
    thread->value = words[0] | (ulong)words[1] << 32;
    thread->result = words[2] | (ulong)words[3] << 32;
  }
}
static void fgv_transpose_matrix(FAIRGV_AS struct fgv_thread* warp) {
  for (uint lane = 0; lane < 32; ++lane) {
    const uint row = lane >> 2, column = (lane & 3) * 2, shift = (row & 1) * 16;
    const uint low = (uint)warp[column * 4 + row / 2].value >> shift & 0xffff;
    const uint high = (uint)warp[(column + 1) * 4 + row / 2].value >> shift & 0xffff;
    warp[lane].result = low | high << 16;
  }
}

static void fgv_complete_matrices(FAIRGV_AS struct fgv_thread* warp, uint kind, uint group) {
  // An instruction of the whole warp: without all lanes it means nothing.
  if (group == 0xffffffffu) {
    if (kind == FAIRGV_LDMATRIX) {
      fgv_load_matrices(warp);
    } else {
      fgv_transpose_matrix(warp);
    }
  }
  for (uint lanes = group; lanes != 0; lanes &= lanes - 1) warp[__builtin_ctz(lanes)].state = FAIRGV_READY;
}

static void fgv_complete(FAIRGV_AS struct fgv_thread* warp, uint kind, uint group) {
  if (kind == FAIRGV_LDMATRIX || kind == FAIRGV_MOVMATRIX) return fgv_complete_matrices(warp, kind, group);
  const bool shuffle = kind >= FAIRGV_SHFL_UP && kind <= FAIRGV_SHFL_IDX;
  const uint common = shuffle || kind == FAIRGV_MATCH_ANY ? 0 : fgv_common(warp, kind, group);
  for (uint lanes = group; lanes != 0; lanes &= lanes - 1) {
    const uint lane = (uint)__builtin_ctz(lanes);
    FAIRGV_AS struct fgv_thread* thread = warp + lane;
    if (shuffle) {
      uint inside;
      const uint from = fgv_shfl_source(kind, lane, thread->a, thread->b, &inside);
      // PTX leaves open what comes from a thread that takes no part; reductions over fewer lanes than their steps
      // reach count on nothing being added.
      thread->result = (group >> from) & 1 ? warp[from].value : 0;
      thread->flag = inside;
    } else if (kind == FAIRGV_MATCH_ANY) {
      uint equal = 0;
      for (uint rest = group; rest != 0; rest &= rest - 1) {
        const uint other = (uint)__builtin_ctz(rest);
        if (warp[other].value == thread->value) equal |= 1u << other;
      }
      thread->result = equal;
    } else {
      thread->result = common;
      thread->flag = kind == FAIRGV_ELECT ? lane == common : common != 0;
    }
    thread->state = FAIRGV_READY;
  }
}

// An mbarrier object (PTX ISA, "mbarrier"), in ways that PTX leaves open: from bit 0 the arrivals that its phase still
// waits for, from bit 20 those that a phase waits for, from bit 40 the number of the phase. What arrive returns is the
// object before.
static ulong fgv_mbarrier_arrive(ulong address, uint count, bool drop) {
  const ulong before = FAIRGV_AT(fgv_u64, address);
  uint pending = (uint)before & 0xfffff, expected = (uint)(before >> 20) & 0xfffff;
  ulong phase = before >> 40;
  if (drop) expected -= count;
  pending -= count;
  if ((pending & 0xfffff) == 0) {
    pending = expected;
    phase = (phase + 1) & 0xffffff;
  }
  FAIRGV_AT(fgv_u64, address) = phase << 40 | (ulong)(expected & 0xfffff) << 20 | (pending & 0xfffff);
  return before;
}
// Whether the phase has ended that has this parity (a = 1), or this number (a = 0).
static bool fgv_mbarrier_done(ulong address, uint a, uint b) {
  const uint phase = (uint)(FAIRGV_AT(fgv_u64, address) >> 40);
  return a != 0 ? (phase & 1) != (b & 1) : phase != b;
}

// Lets go who can go among the `count` threads of a warp; false when nobody could.
static bool fgv_resolve_warp(FAIRGV_AS struct fgv_thread* warp, uint count) {
  uint live = 0, waiting = 0;
  bool progress = false;
  for (uint lane = 0; lane < count; ++lane) {
    const uint state = warp[lane].state;
    if (state != FAIRGV_DONE) live |= 1u << lane;
    if (state > FAIRGV_YIELD && state <= FAIRGV_WARP_LAST) waiting |= 1u << lane;
    if (state == FAIRGV_MBARRIER && fgv_mbarrier_done(warp[lane].value, warp[lane].a, warp[lane].b)) {
      warp[lane].result = 1;
      warp[lane].state = FAIRGV_READY;
      progress = true;
    }
  }
  while (waiting != 0) {
    FAIRGV_AS struct fgv_thread* first = warp + __builtin_ctz(waiting);
    uint group = 0;
    for (uint lanes = waiting; lanes != 0; lanes &= lanes - 1) {
      const uint lane = (uint)__builtin_ctz(lanes);
      FAIRGV_AS struct fgv_thread* thread = warp + lane;
      const bool together = first->state == FAIRGV_ACTIVEMASK ? thread->pc == first->pc : thread->mask == first->mask;
      if (thread->state == first->state && together) group |= 1u << lane;
    }
    const uint needed = first->state == FAIRGV_ACTIVEMASK ? group : first->mask & live;
    if ((group & needed) == needed) {
      fgv_complete(warp, first->state, group);
      progress = true;
    }
    waiting &= ~group;
  }
  return progress;
}

// How many threads of barrier `id` have arrived; a warp arrives with its threads that have ended.
static uint fgv_arrived(struct fgv_block* G, uint id, bool with_ended) {
  uint total = FAIRGV_AT(uint, G->slot + 4 * id);
  for (uint warp = 0; warp < G->count; warp += 32) {
    uint here = 0, ended = 0;
    for (uint t = warp; t < min(warp + 32, G->count); ++t) {
      FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
      if (thread->state == FAIRGV_DONE) ++ended;
      if (thread->state > FAIRGV_WARP_LAST && thread->a == id) ++here;
    }
    total += here + (with_ended && here != 0 ? ended : 0);
  }
  return total;
}

static void fgv_release(struct fgv_block* G, uint id) {
  uint votes = 0, threads = 0;
  for (uint t = 0; t < G->count; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    if (thread->state <= FAIRGV_WARP_LAST || thread->a != id) continue;
    ++threads;
    if (thread->value != 0) ++votes;
  }
  for (uint t = 0; t < G->count; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    if (thread->state <= FAIRGV_WARP_LAST || thread->a != id) continue;
    thread->result = thread->state == FAIRGV_BAR_AND ? votes == threads : thread->state == FAIRGV_BAR_OR ? votes != 0 : votes;
    thread->state = FAIRGV_READY;
  }
  FAIRGV_AT(uint, G->slot + 4 * id) = 0;
}

// After every warp has gone as far as it can: false when all threads have ended, when none can ever go on, or when all
// wait for other blocks.
static bool fgv_resolve_block(struct fgv_block* G, ulong R) {
  uint live = 0, stuck = 0, waiting = 0;
  bool progress = false;
  G->yields = false;
  for (uint t = 0; t < G->count; ++t) {
    const uint state = FAIRGV_THREAD(*G, t)->state;
    if (state == FAIRGV_DONE) continue;
    if (live++ == 0) stuck = t;
    if (state == FAIRGV_MBARRIER) ++waiting;
    G->yields = G->yields || state == FAIRGV_YIELD;
    progress = progress || state == FAIRGV_READY;
  }
  if (live == 0) return false;
  for (uint t = 0; t < G->count; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    if (thread->state <= FAIRGV_WARP_LAST) continue;
    const uint id = thread->a, expected = thread->b;
    if (fgv_arrived(G, id, expected != 0) >= (expected != 0 ? expected : live)) {
      fgv_release(G, id);
      progress = true;
    }
  }
  if (progress || G->yields) return progress;
  // Nobody else can end a phase now: who asks for one hears that it has not ended.
  for (uint t = 0; t < G->count && waiting != 0; ++t) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, t);
    if (thread->state != FAIRGV_MBARRIER) continue;
    thread->result = fgv_mbarrier_done(thread->value, thread->a, thread->b);
    thread->state = FAIRGV_READY;
  }
  if (waiting == 0) {
    FAIRGV_AS struct fgv_thread* thread = FAIRGV_THREAD(*G, stuck);
    fgv_trap(R, 3, thread->x, thread->y, thread->z, 0, 0, 0, 0);
  }
  return waiting != 0;
}
