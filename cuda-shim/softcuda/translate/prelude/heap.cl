// malloc and free of kernels. The heap is one piece of memory (heap_block.hpp has the same layout in C++): a head, then
// blocks without gaps between them, each behind 16 bytes: its size with those, and that of the block before it. Bit 0 of
// a size says that the block is used. Free blocks are in lists by the power of two of their size, and never lie next to
// each other. The last block has only its 16 bytes and is always used.
struct fgv_heap {
  uint lock, reserved;
  ulong begin, end;
  ulong lists[64];
};
#define FAIRGV_HEAP(R) ((FAIRGV_AS struct fgv_heap*)FAIRGV_RUNTIME(R)->heap)
#define FAIRGV_SIZE(block) FAIRGV_AT(ulong, block)
#define FAIRGV_BEFORE(block) FAIRGV_AT(ulong, (block) + 8)
#define FAIRGV_NEXT(block) FAIRGV_AT(ulong, (block) + 16)
#define FAIRGV_PREVIOUS(block) FAIRGV_AT(ulong, (block) + 24)

static uint fgv_heap_list(ulong size) { return 63 - (uint)__builtin_clzl(size); }

static void fgv_heap_put(FAIRGV_AS struct fgv_heap* heap, ulong block, ulong size) {
  FAIRGV_SIZE(block) = size;
  FAIRGV_BEFORE(block + size) = size;
  FAIRGV_AS ulong* list = heap->lists + fgv_heap_list(size);
  FAIRGV_NEXT(block) = *list;
  FAIRGV_PREVIOUS(block) = 0;
  if (*list != 0) FAIRGV_PREVIOUS(*list) = block;
  *list = block;
}

static void fgv_heap_take(FAIRGV_AS struct fgv_heap* heap, ulong block) {
  const ulong next = FAIRGV_NEXT(block), previous = FAIRGV_PREVIOUS(block);
  if (next != 0) FAIRGV_PREVIOUS(next) = previous;
  if (previous != 0) {
    FAIRGV_NEXT(previous) = next;
  } else {
    heap->lists[fgv_heap_list(FAIRGV_SIZE(block))] = next;
  }
}

// Makes a used block of `size` at the beginning of one that has been taken out of its list.
static void fgv_heap_use(FAIRGV_AS struct fgv_heap* heap, ulong block, ulong size) {
  const ulong whole = FAIRGV_SIZE(block) & ~1ul;
  if (whole - size >= 32) {
    fgv_heap_put(heap, block + size, whole - size);
    FAIRGV_BEFORE(block + size) = size;
  } else {
    size = whole;
  }
  FAIRGV_SIZE(block) = size | 1;
  FAIRGV_BEFORE(block + size) = size;
}

static ulong fgv_heap_find(FAIRGV_AS struct fgv_heap* heap, ulong size) {
  for (uint list = fgv_heap_list(size); list < 64; ++list) {
    for (ulong block = heap->lists[list]; block != 0; block = FAIRGV_NEXT(block)) {
      if (FAIRGV_SIZE(block) >= size) return block;
    }
  }
  return 0;
}

static void fgv_heap_release(FAIRGV_AS struct fgv_heap* heap, ulong block) {
  ulong size = FAIRGV_SIZE(block) & ~1ul;
  const ulong after = block + size;
  if (!(FAIRGV_SIZE(after) & 1)) {
    fgv_heap_take(heap, after);
    size += FAIRGV_SIZE(after);
  }
  if (block != heap->begin && !(FAIRGV_SIZE(block - FAIRGV_BEFORE(block)) & 1)) {
    const ulong before = block - FAIRGV_BEFORE(block);
    fgv_heap_take(heap, before);
    size += FAIRGV_SIZE(before);
    block = before;
  }
  fgv_heap_put(heap, block, size);
}

static void fgv_heap_lock(FAIRGV_AS struct fgv_heap* heap) {
  while (!__sync_bool_compare_and_swap(&heap->lock, 0u, 1u)) {
  }
}
static void fgv_heap_unlock(FAIRGV_AS struct fgv_heap* heap) { __atomic_store_n(&heap->lock, 0u, __ATOMIC_RELEASE); }

// Null where there is no room. `alignment` is a power of two.
static ulong fgv_malloc(ulong R, ulong bytes, ulong alignment) {
  FAIRGV_AS struct fgv_heap* heap = FAIRGV_HEAP(R);
  if (heap == 0 || bytes > heap->end - heap->begin || alignment > heap->end - heap->begin) return 0;
  const ulong size = 16 + (bytes < 16 ? 16 : (bytes + 15) & ~15ul);
  const ulong room = alignment > 16 ? size + alignment + 32 : size;
  fgv_heap_lock(heap);
  ulong block = fgv_heap_find(heap, room);
  if (block != 0) {
    fgv_heap_take(heap, block);
    fgv_heap_use(heap, block, room);
    if (alignment > 16 && ((block + 16) & (alignment - 1)) != 0) {
      // The space in front is large enough to be a block of its own.
      const ulong place = ((block + 48 + alignment - 1) & ~(alignment - 1)) - 16;
      const ulong whole = FAIRGV_SIZE(block) & ~1ul, front = place - block;
      FAIRGV_SIZE(place) = (whole - front) | 1;
      FAIRGV_BEFORE(block + whole) = whole - front;
      FAIRGV_SIZE(block) = front | 1;
      FAIRGV_BEFORE(place) = front;
      fgv_heap_release(heap, block);
      block = place;
    }
    block += 16;
  }
  fgv_heap_unlock(heap);
  return block;
}

// False: the pointer is no block of the heap.
static bool fgv_free(ulong R, ulong pointer) {
  if (pointer == 0) return true;
  FAIRGV_AS struct fgv_heap* heap = FAIRGV_HEAP(R);
  if (heap == 0 || pointer < heap->begin + 16 || pointer >= heap->end || (pointer & 15) != 0) return false;
  fgv_heap_lock(heap);
  const ulong block = pointer - 16, size = FAIRGV_SIZE(block) & ~1ul;
  const bool used = (FAIRGV_SIZE(block) & 1) && size >= 32 && size <= heap->end - block && FAIRGV_BEFORE(block + size) == size;
  if (used) fgv_heap_release(heap, block);
  fgv_heap_unlock(heap);
  return used;
}
