"""GoogLeNet (Inception v1) whose modules have no activations of their own."""

import torch
import torch.nn.functional as F
from torch import nn


class InceptionModule(nn.Module):
    """Four branches side by side, joined along the channels."""

    def __init__(
        self,
        in_channels: int,
        out_1x1: int,
        reduce_3x3: int,
        out_3x3: int,
        reduce_5x5: int,
        out_5x5: int,
        pool_proj: int,
    ):
        super().__init__()
        self.branch1x1 = nn.Conv2d(in_channels, out_1x1, kernel_size=1)
        self.branch3x3 = self.reduced(in_channels, reduce_3x3, out_3x3, kernel_size=3)
        self.branch5x5 = self.reduced(in_channels, reduce_5x5, out_5x5, kernel_size=5)
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1), nn.Conv2d(in_channels, pool_proj, kernel_size=1)
        )

    @staticmethod
    def reduced(in_channels: int, between: int, out_channels: int, kernel_size: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(in_channels, between, kernel_size=1),
            nn.Conv2d(between, out_channels, kernel_size=kernel_size, padding=kernel_size // 2),
        )

    def forward(self, x):
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], 1)


class Model(nn.Module):
    """Stem, nine modules in three groups with pooling between, average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3)
        self.conv2 = nn.Conv2d(64, 64, kernel_size=1)
        self.conv3 = nn.Conv2d(64, 192, kernel_size=3, padding=1)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.inception3a = InceptionModule(192, 64, 96, 128, 16, 32, 32)
        self.inception3b = InceptionModule(256, 128, 128, 192, 32, 96, 64)
        self.inception4a = InceptionModule(480, 192, 96, 208, 16, 48, 64)
        self.inception4b = InceptionModule(512, 160, 112, 224, 24, 64, 64)
        self.inception4c = InceptionModule(512, 128, 128, 256, 24, 64, 64)
        self.inception4d = InceptionModule(512, 112, 144, 288, 32, 64, 64)
        self.inception4e = InceptionModule(528, 256, 160, 320, 32, 128, 128)
        self.inception5a = InceptionModule(832, 256, 160, 320, 32, 128, 128)
        self.inception5b = InceptionModule(832, 384, 192, 384, 48, 128, 128)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(0.0)
        self.fc = nn.Linear(1024, num_classes)

    def forward(self, x):
        x = self.maxpool(F.relu(self.conv1(x)))
        x = F.relu(self.conv2(x))
        x = self.maxpool(F.relu(self.conv3(x)))
        x = self.maxpool(self.inception3b(self.inception3a(x)))
        for module in (self.inception4a, self.inception4b, self.inception4c, self.inception4d, self.inception4e):
            x = module(x)
        x = self.inception5b(self.inception5a(self.maxpool(x)))
        return self.fc(self.dropout(torch.flatten(self.avgpool(x), 1)))


batch_size = 10
input_channels = 3
height = 224
width = 224
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs():
    return [num_classes]
