"""A recurrent cell that binds its state anew at every call, as 3/33 does."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 4)
        self.hidden = torch.randn(2, 4)

    def forward(self, x):
        self.hidden = torch.tanh(self.cell(torch.cat((x, self.hidden), 1)))
        return 2 * self.hidden


def get_inputs():
    return [torch.rand(2, 4)]


def get_init_inputs():
    return []
