"""EfficientNet's MBConv block in train mode: widen, filter each channel by itself, narrow."""

import torch
from torch import nn


def normalised(conv: nn.Conv2d) -> nn.Sequential:
    return nn.Sequential(conv, nn.BatchNorm2d(conv.out_channels), nn.ReLU6(inplace=True))


class Model(nn.Module):
    """(batch, in_channels, h, w) -> (batch, out_channels, h / stride, w / stride)."""

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


batch_size = 10
in_channels = 112
out_channels = 192
kernel_size = 5
stride = 2
expand_ratio = 6


def get_inputs():
    return [torch.rand(batch_size, in_channels, 224, 224)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, stride, expand_ratio]
