"""ResNet-101 in train mode: every batch normalisation uses batch statistics and updates its running ones."""

import torch
from torch import nn


class Bottleneck(nn.Module):
    """1x1 down, 3x3, 1x1 up to four times the width, plus the shortcut."""

    expansion = 4

    def __init__(self, in_channels: int, width: int, stride: int = 1, downsample: nn.Module | None = None):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.expansion, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class Model(nn.Module):
    """Stem, four stages of bottlenecks, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, layers: list[int], num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self.stage(64, 64, layers[0], stride=1)
        self.layer2 = self.stage(256, 128, layers[1], stride=2)
        self.layer3 = self.stage(512, 256, layers[2], stride=2)
        self.layer4 = self.stage(1024, 512, layers[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * Bottleneck.expansion, num_classes)

    @staticmethod
    def stage(in_channels: int, width: int, blocks: int, stride: int) -> nn.Sequential:
        """The projection is made before its block, which fixes the order in which random numbers are drawn."""
        out_channels = width * Bottleneck.expansion
        projection = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )
        first = Bottleneck(in_channels, width, stride, projection)
        return nn.Sequential(first, *(Bottleneck(out_channels, width) for _ in range(1, blocks)))

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


batch_size = 10
height = 224
width = 224
layers = [3, 4, 23, 3]
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, 3, height, width)]


def get_init_inputs():
    return [layers, num_classes]
