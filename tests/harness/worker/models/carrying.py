"""A recurrent cell that keeps its hidden state as a plain tensor, with an integer input and prints on stdout."""

import torch
from torch import nn

print("a task file may print")


class Model(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.step = nn.Linear(2 * width, width)
        self.embedding = nn.Embedding(10, width)
        self.hidden = torch.randn(4, width)

    def forward(self, x, index):
        self.hidden.copy_(torch.tanh(self.step(torch.cat((x + self.embedding(index), self.hidden), dim=1))))
        return self.hidden * 2


def get_inputs():
    return [torch.rand(4, 5), torch.randint(0, 10, (4,))]


def get_init_inputs():
    return [5]
