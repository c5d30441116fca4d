"""Products of matrices of several types, single and in batches (cuBLAS)."""

from common import fingerprint, need_torch

torch = need_torch()

for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    for shape in ((512, 512), (8, 128, 256)):
        left = torch.randn(shape).to(kind).cuda()
        print(f"{kind} {shape}: {fingerprint(torch.matmul(left, left.transpose(-1, -2)))}")
