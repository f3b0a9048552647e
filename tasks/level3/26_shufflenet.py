"""ShuffleNet without strides inside its stages, in train mode."""

import torch
import torch.nn.functional as F
from torch import nn

STAGE_UNITS = (3, 7, 3)
STAGE_CHANNELS = (24, 240, 480, 960)  # the stem's, then each stage's


class ChannelShuffle(nn.Module):
    """Channel g * n + i becomes channel i * groups + g: the next grouped convolution sees every group."""

    def __init__(self, groups: int):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        batch, channels, height, width = x.shape
        x = x.view(batch, self.groups, channels // self.groups, height, width)
        return x.transpose(1, 2).contiguous().view(batch, channels, height, width)


class ShuffleNetUnit(nn.Module):
    """Grouped 1x1, depthwise 3x3, channel shuffle, grouped 1x1, plus the shortcut."""

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


class Model(nn.Module):
    """Stem, three stages, head, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000, groups: int = 3):
        super().__init__()
        self.conv1 = nn.Conv2d(3, STAGE_CHANNELS[0], kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(STAGE_CHANNELS[0])
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.stage2, self.stage3, self.stage4 = (
            self.stage(fan_in, fan_out, units, groups)
            for fan_in, fan_out, units in zip(STAGE_CHANNELS, STAGE_CHANNELS[1:], STAGE_UNITS)
        )
        self.conv5 = nn.Conv2d(STAGE_CHANNELS[-1], 1024, kernel_size=1, bias=False)
        self.bn5 = nn.BatchNorm2d(1024)
        self.fc = nn.Linear(1024, num_classes)

    @staticmethod
    def stage(in_channels: int, out_channels: int, units: int, groups: int) -> nn.Sequential:
        first = ShuffleNetUnit(in_channels, out_channels, groups)
        return nn.Sequential(first, *(ShuffleNetUnit(out_channels, out_channels, groups) for _ in range(1, units)))

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        for stage in (self.stage2, self.stage3, self.stage4):
            x = stage(x)
        x = F.relu(self.bn5(self.conv5(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.fc(x.view(x.size(0), -1))


batch_size = 10
input_channels = 3
height = 224
width = 224
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs():
    return [num_classes]
