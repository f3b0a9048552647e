"""MobileNet v1 in train mode: depthwise separable convolutions."""

import torch
from torch import nn

# Output width and stride of each depthwise separable stage, at alpha = 1.
STAGES = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]


def normalised(conv: nn.Conv2d) -> list[nn.Module]:
    return [conv, nn.BatchNorm2d(conv.out_channels), nn.ReLU(inplace=True)]


def separable(in_channels: int, out_channels: int, stride: int) -> nn.Sequential:
    depthwise = nn.Conv2d(in_channels, in_channels, 3, stride, 1, groups=in_channels, bias=False)
    pointwise = nn.Conv2d(in_channels, out_channels, 1, bias=False)
    return nn.Sequential(*normalised(depthwise), *normalised(pointwise))


class Model(nn.Module):
    """(batch, input_channels, 224, 224) -> (batch, classes). `alpha` scales every width."""

    def __init__(self, num_classes: int = 1000, input_channels: int = 3, alpha: float = 1.0):
        super().__init__()
        channels = int(32 * alpha)
        stages = [nn.Sequential(*normalised(nn.Conv2d(input_channels, channels, 3, 2, 1, bias=False)))]
        for width, stride in STAGES:
            stages.append(separable(channels, int(width * alpha), stride))
            channels = int(width * alpha)
        self.model = nn.Sequential(*stages, nn.AvgPool2d(7))
        self.fc = nn.Linear(channels, num_classes)

    def forward(self, x):
        x = self.model(x)
        return self.fc(x.view(x.size(0), -1))


batch_size = 10
input_channels = 3
height = 224
width = 224
num_classes = 1000
alpha = 1.0


def get_inputs():
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs():
    return [num_classes, input_channels, alpha]
