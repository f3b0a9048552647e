"""A recurrent net that returns a tuple with a dict in it."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, 2, batch_first=True)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        hidden, (h, c) = self.lstm(x)
        return self.fc(hidden[:, -1, :]), {"h": h, "c": c}


def get_inputs():
    return [torch.rand(4, 7, 6)]


def get_init_inputs():
    return []
