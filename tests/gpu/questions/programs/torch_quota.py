"""Threads that allocate and free at random until the limit of their tenant is met, again and again. Prints what they
held at most. Run it without PyTorch's own cache: PYTORCH_NO_CUDA_MEMORY_CACHING=1."""

import json
import random
import sys
import threading

from common import need_torch

torch = need_torch()
torch.zeros(1).cuda()
free_before, total = torch.cuda.mem_get_info()
lock = threading.Lock()
counts = {"held": 0, "most": 0, "granted": 0, "refused": 0}


def allocate(seed):
    chance = random.Random(seed)
    own = []
    for _ in range(40):
        size = chance.randrange(1, total // 8)
        try:
            own.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            with lock:
                counts["granted"] += 1
                counts["held"] += size
                counts["most"] = max(counts["most"], counts["held"])
            full = False
        except torch.OutOfMemoryError:
            full = True
            with lock:
                counts["refused"] += 1
        if own and (full or chance.random() < 0.3):
            with lock:
                counts["held"] -= own[0].numel()  # before: another thread may have it at once
            del own[0]
    with lock:
        counts["held"] -= sum(tensor.numel() for tensor in own)


trouble = []
threading.excepthook = lambda raised: trouble.append(f"{raised.exc_type.__name__}: {raised.exc_value}")
threads = [threading.Thread(target=allocate, args=(seed,)) for seed in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if trouble:
    sys.exit(trouble[0])
free_after, _ = torch.cuda.mem_get_info()
print(json.dumps({"total": total, "most": counts["most"], "granted": counts["granted"], "refused": counts["refused"],
                  "freed_is_back": free_after == free_before}))
