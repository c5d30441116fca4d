"""For the programs of the questions: packages that may be missing, and texts that tell whether two runs are equal."""

import importlib
import os
import sys

ABSENT = 77
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS computes the same each time


def absent(what):
    print(f"absent: {what}")
    sys.exit(ABSENT)


def need(package):
    """The package; without it the program says so and ends."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != package.split(".")[0]:
            raise
        absent(f"no {package}")


def need_torch():
    """PyTorch that computes the same each time."""
    torch = need("torch")
    if torch.version.cuda is None:
        absent("torch is built without CUDA")
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    return torch


def fingerprint(tensor):
    """Differs where one bit of a PyTorch tensor does, as good as always."""
    import torch

    numbers = tensor.detach().cpu().contiguous().view(torch.uint8).flatten().to(torch.int64)
    weights = torch.arange(numbers.numel(), dtype=torch.int64) % 65_521 + 1
    return f"{int((numbers * weights).sum()):x}"


def show_training(losses, model):
    for step, loss in enumerate(losses):
        print(f"loss {step}: {float(loss).hex()}")
    for name, parameter in model.named_parameters():
        print(f"{name}: {fingerprint(parameter)}")
