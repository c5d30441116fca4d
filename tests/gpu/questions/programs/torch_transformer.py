"""A few training steps of a small transformer, in single precision and then with autocast to bfloat16."""

from common import need_torch, show_training

torch = need_torch()
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(256, 128)
        layer = nn.TransformerEncoderLayer(128, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(128, 256)

    def forward(self, tokens):
        return self.head(self.layers(self.tokens(tokens)))


model = Model().cuda()
tokens = torch.randint(256, (16, 65)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
losses = []
for step in range(6):
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16, enabled=step >= 3):
        predicted = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(predicted.flatten(0, 1).float(), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    losses.append(loss)
show_training(losses, model)
