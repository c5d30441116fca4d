"""Two kernels of Triton: a sum of vectors, and a product of matrices by tensor cores."""

from common import fingerprint, need, need_torch

torch = need_torch()
triton = need("triton")
import triton.language as tl


@triton.jit
def add(left, right, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out + at, tl.load(left + at, mask=inside) + tl.load(right + at, mask=inside), mask=inside)


@triton.jit
def multiply(left, right, out, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for first in range(0, SIZE, BLOCK):
        inner = first + tl.arange(0, BLOCK)
        a = tl.load(left + rows[:, None] * SIZE + inner[None, :])
        b = tl.load(right + inner[:, None] * SIZE + columns[None, :])
        total += tl.dot(a, b)
    tl.store(out + rows[:, None] * SIZE + columns[None, :], total)


count = 100_003
left, right = torch.randn(count).cuda(), torch.randn(count).cuda()
out = torch.empty(count, device="cuda")
add[(triton.cdiv(count, 1024),)](left, right, out, count, BLOCK=1024)
print("add", fingerprint(out))

size = 256
left, right = (torch.randn(size, size).half().cuda() for _ in range(2))
out = torch.empty(size, size, device="cuda")
multiply[(size // 64, size // 64)](left, right, out, SIZE=size, BLOCK=64)
print("multiply", fingerprint(out))
