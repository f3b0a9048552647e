"""LeNet-5 on a large batch of one-channel 32x32 images."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    """Two stages of convolution, ReLU and pooling, then three linear layers: (batch, 1, 32, 32) -> (batch, classes)."""

    def __init__(self, num_classes: int):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            x = F.max_pool2d(F.relu(conv(x)), kernel_size=2, stride=2)
        x = x.view(-1, self.fc1.in_features)
        for fc in (self.fc1, self.fc2):
            x = F.relu(fc(x))
        return self.fc3(x)


batch_size = 4096
num_classes = 20


def get_inputs():
    return [torch.rand(batch_size, 1, 32, 32)]


def get_init_inputs():
    return [num_classes]
