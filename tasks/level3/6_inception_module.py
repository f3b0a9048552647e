"""GoogLeNet's Inception module without activations: four branches side by side, joined along the channels."""

import torch
from torch import nn


class Model(nn.Module):
    """(batch, in_channels, h, w) -> (batch, out_1x1 + out_3x3 + out_5x5 + pool_proj, h, w)."""

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
        """A 1x1 convolution to fewer channels, then the wide one."""
        return nn.Sequential(
            nn.Conv2d(in_channels, between, kernel_size=1),
            nn.Conv2d(between, out_channels, kernel_size=kernel_size, padding=kernel_size // 2),
        )

    def forward(self, x):
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], 1)


batch_size = 10
in_channels = 480
height = 224
width = 224
branch_channels = [192, 96, 208, 16, 48, 64]  # out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, *branch_channels]
