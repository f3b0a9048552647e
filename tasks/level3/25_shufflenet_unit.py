"""ShuffleNet's unit in train mode: grouped 1x1, depthwise 3x3, channel shuffle, grouped 1x1, plus the shortcut."""

import torch
import torch.nn.functional as F
from torch import nn


class ChannelShuffle(nn.Module):
    """Channel g * n + i becomes channel i * groups + g: the next grouped convolution sees every group."""

    def __init__(self, groups: int):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        batch, channels, height, width = x.shape
        x = x.view(batch, self.groups, channels // self.groups, height, width)
        return x.transpose(1, 2).contiguous().view(batch, channels, height, width)


class Model(nn.Module):
    """(batch, in_channels, h, w) -> (batch, out_channels, h, w)."""

    def __init__(self, in_channels: int, out_channels: int, groups: int = 3):
        super().__init__()
        if out_channels % 4 != 0:
            raise ValueError("out_channels must be a multiple of four")
        mid = out_channels // 4
        self.conv1 = nn.Conv2d(in_channels, mid, kernel_size=1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(mid)
        self.conv2 = nn.Conv2d(mid, mid, kernel_size=3, padding=1, groups=mid, bias=False)
        self.bn2 = nn.BatchNorm2d(mid)
        self.conv3 = nn.Conv2d(mid, out_channels, kernel_size=1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.shuffle = ChannelShuffle(groups)
        self.shortcut = nn.Sequential()
        if in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False), nn.BatchNorm2d(out_channels)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.shuffle(self.bn2(self.conv2(y)))
        y = F.relu(self.bn3(self.conv3(y)))
        y += self.shortcut(x)
        return y


batch_size = 10
input_channels = 240
out_channels = 480
groups = 3
height = 224
width = 224


def get_inputs():
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs():
    return [input_channels, out_channels, groups]
