"""EfficientNet-B0 without squeeze-and-excitation, in train mode."""

import torch
import torch.nn.functional as F
from torch import nn

# Input and output width, kernel size, stride and expansion of each block.
BLOCKS = [
    (32, 16, 3, 1, 1),
    (16, 24, 3, 2, 6),
    (24, 24, 3, 1, 6),
    (24, 40, 5, 2, 6),
    (40, 40, 5, 1, 6),
    (40, 80, 3, 2, 6),
    (80, 80, 3, 1, 6),
    (80, 112, 5, 1, 6),
    (112, 112, 5, 1, 6),
    (112, 192, 5, 2, 6),
    (192, 192, 5, 1, 6),
    (192, 192, 5, 1, 6),
    (192, 320, 3, 1, 6),
]


def normalised(conv: nn.Conv2d) -> nn.Sequential:
    return nn.Sequential(conv, nn.BatchNorm2d(conv.out_channels), nn.ReLU6(inplace=True))


class MBConv(nn.Module):
    """Widen, filter each channel by itself, narrow; plus the input where the shape is kept."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int, expand_ratio: int):
        super().__init__()
        hidden = in_channels * expand_ratio
        self.use_residual = stride == 1 and in_channels == out_channels
        self.widens = expand_ratio != 1
        if self.widens:
            self.expand_conv = normalised(nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False))
        self.depthwise_conv = normalised(
            nn.Conv2d(hidden, hidden, kernel_size, stride, padding=(kernel_size - 1) // 2, groups=hidden, bias=False)
        )
        self.project_conv = nn.Sequential(
            nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False), nn.BatchNorm2d(out_channels)
        )

    def forward(self, x):
        y = self.expand_conv(x) if self.widens else x
        y = self.project_conv(self.depthwise_conv(y))
        if self.use_residual:
            y += x
        return y


class Model(nn.Module):
    """Stem, thirteen blocks, head, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.blocks = nn.Sequential(*(MBConv(*block) for block in BLOCKS))
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        x = F.relu(self.bn2(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.fc(x.view(x.size(0), -1))


batch_size = 10
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs():
    return [num_classes]
