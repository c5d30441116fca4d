"""Training of a net of full layers, step by step, or with its step captured in a CUDA graph."""


class Training:
    def __init__(self, torch, width, batch, captured, kind):
        nn = torch.nn
        layers = [layer for _ in range(3) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.model = nn.Sequential(*layers, nn.Linear(width, width)).to("cuda", kind)
        self._input = torch.randn(batch, width).to("cuda", kind)
        self._wanted = torch.randn(batch, width).to("cuda", kind)
        self._error = nn.functional.mse_loss
        self._optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.loss = None
        self.step = self._step
        if captured:
            self._capture(torch)

    def _step(self):
        # Gradients stay where they are: a graph writes to the same places each time.
        self._optimizer.zero_grad(set_to_none=False)
        self.loss = self._error(self.model(self._input), self._wanted)
        self.loss.backward()
        self._optimizer.step()

    def _capture(self, torch):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self.step = graph.replay
