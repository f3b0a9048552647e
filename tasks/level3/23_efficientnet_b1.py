"""EfficientNet-B1 with one block a stage, without squeeze-and-excitation or residual sums, in train mode."""

import torch
import torch.nn.functional as F
from torch import nn

# Input and output width, stride and expansion of each block.
BLOCKS = [(32, 16, 1, 1), (16, 24, 2, 6), (24, 40, 2, 6), (40, 80, 2, 6), (80, 112, 1, 6), (112, 192, 2, 6), (192, 320, 1, 6)]


def mbconv(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    """Widen (even by one), filter each channel by itself, narrow."""
    hidden = in_channels * expand_ratio
    return nn.Sequential(
        nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    """Stem, seven blocks, head, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        for number, block in enumerate(BLOCKS, start=1):
            self.add_module(f"mbconv{number}", mbconv(*block))
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for number in range(1, len(BLOCKS) + 1):
            x = self.get_submodule(f"mbconv{number}")(x)
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


batch_size = 10
input_shape = (3, 240, 240)
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, *input_shape)]


def get_init_inputs():
    return [num_classes]
