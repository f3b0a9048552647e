"""MobileNet v2 in train mode, without its residual sums, as the suite has it."""

import torch
from torch import nn

# Expansion, output width, blocks and first stride of each stage. All widths are multiples of eight.
STAGES = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def normalised(conv: nn.Conv2d) -> list[nn.Module]:
    return [conv, nn.BatchNorm2d(conv.out_channels), nn.ReLU6(inplace=True)]


def inverted_bottleneck(in_channels: int, out_channels: int, stride: int, expansion: int) -> nn.Sequential:
    hidden = in_channels * expansion
    widen = normalised(nn.Conv2d(in_channels, hidden, 1, bias=False)) if expansion != 1 else []
    depthwise = normalised(nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False))
    narrow = [nn.Conv2d(hidden, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels)]
    return nn.Sequential(*widen, *depthwise, *narrow)


class Model(nn.Module):
    """(batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        channels, last_channels = 32, 1280
        features = normalised(nn.Conv2d(3, channels, 3, 2, 1, bias=False))
        for expansion, width, blocks, first_stride in STAGES:
            for i in range(blocks):
                features.append(inverted_bottleneck(channels, width, first_stride if i == 0 else 1, expansion))
                channels = width
        features += normalised(nn.Conv2d(channels, last_channels, 1, bias=False))
        self.features = nn.Sequential(*features, nn.AdaptiveAvgPool2d((1, 1)))
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(last_channels, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.features(x)
        return self.classifier(x.view(x.size(0), -1))


batch_size = 10
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs():
    return [num_classes]
