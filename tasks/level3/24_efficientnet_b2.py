"""EfficientNet-B2 as the suite has it, in train mode: the squeeze path stands in line with the block, so that every block ends on a
one-pixel map, and batch normalisation sees two values a channel."""

import torch
from torch import nn

# Input and output width, stride and expansion of each block.
BLOCKS = [(32, 96, 1, 3), (96, 144, 2, 6), (144, 192, 2, 6), (192, 288, 2, 6), (288, 384, 1, 6)]


def mbconv(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    hidden = in_channels * expand_ratio
    widen = [nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(inplace=True)]
    return nn.Sequential(
        *(widen if expand_ratio != 1 else []),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Conv2d(hidden, hidden // 4, kernel_size=1, bias=False),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden // 4, hidden, kernel_size=1, bias=False),
        nn.Sigmoid(),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    """Stem, five blocks, head, global average, classifier: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.relu = nn.ReLU(inplace=True)
        for number, block in enumerate(BLOCKS, start=1):
            self.add_module(f"mbconv{number}", mbconv(*block))
        self.conv_final = nn.Conv2d(384, 1408, kernel_size=1, bias=False)
        self.bn_final = nn.BatchNorm2d(1408)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(1408, num_classes)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        for number in range(1, len(BLOCKS) + 1):
            x = self.get_submodule(f"mbconv{number}")(x)
        x = self.relu(self.bn_final(self.conv_final(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))


batch_size = 2
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs():
    return [num_classes]
