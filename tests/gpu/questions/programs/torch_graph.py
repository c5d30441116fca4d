"""Training steps that are captured once and then launched as a CUDA graph."""

from common import need_torch, show_training
from training import Training

torch = need_torch()

training = Training(torch, width=256, batch=128, captured=True, kind=torch.float32)
losses = []
for _ in range(8):
    training.step()
    losses.append(float(training.loss))
show_training(losses, training.model)
