"""VGG-16; its dropout has probability zero."""

import torch
from torch import nn

# Channels of each group's 3x3 convolutions; a 2x2 max pool ends each group.
GROUPS = [[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3]


class Model(nn.Module):
    """(batch, 3, 224, 224) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        features, channels = [], 3
        for group in GROUPS:
            for width in group:
                features += [nn.Conv2d(channels, width, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
                channels = width
            features.append(nn.MaxPool2d(kernel_size=2, stride=2))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


batch_size = 10
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs():
    return [num_classes]
