"""Swin-MLP: windows of a feature map mixed by one grouped linear map over their positions, shifted in every other block."""

import torch
import torch.nn.functional as F
from torch import nn


def window_partition(x, size: int):
    """(batch, height, width, channels) -> (batch * windows, size, size, channels)."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // size, size, width // size, size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, channels)


def window_reverse(windows, size: int, height: int, width: int):
    """The inverse of window_partition."""
    channels = windows.shape[-1]
    x = windows.view(-1, height // size, width // size, size, size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, height, width, channels)


class Mlp(nn.Module):
    def __init__(self, width: int, hidden: int, drop: float):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, width)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class SwinMLPBlock(nn.Module):
    """x + spatial(norm1(x)), then x + mlp(norm2(x)): (batch, height * width, dim) -> the same."""

    def __init__(self, dim, resolution, num_heads, window_size, shift_size, mlp_ratio, drop):
        super().__init__()
        if min(resolution) <= window_size:  # one window is all: nothing to shift
            window_size, shift_size = min(resolution), 0
        self.resolution = resolution
        self.num_heads = num_heads
        self.window_size = window_size
        self.shift_size = shift_size
        positions = window_size * window_size
        self.norm1 = nn.LayerNorm(dim)
        self.spatial_mlp = nn.Conv1d(num_heads * positions, num_heads * positions, kernel_size=1, groups=num_heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)

    def spatial(self, x):
        """Mixes the positions of each window, with weights of each head's own: (batch, height, width, channels) -> the same."""
        height, width, channels = x.shape[1:]
        size, heads = self.window_size, self.num_heads
        positions, head_channels = size * size, channels // heads
        windows = window_partition(x, size).view(-1, positions, heads, head_channels)
        windows = windows.transpose(1, 2).reshape(-1, heads * positions, head_channels)
        mixed = self.spatial_mlp(windows).view(-1, heads, positions, head_channels).transpose(1, 2)
        return window_reverse(mixed.reshape(-1, size, size, channels), size, height, width)

    def forward(self, x):
        height, width = self.resolution
        batch, _, channels = x.shape
        y = self.norm1(x).view(batch, height, width, channels)
        if self.shift_size > 0:  # shifting is padding by zeros on one side more than on the other
            after, before = self.shift_size, self.window_size - self.shift_size
            y = F.pad(y, [0, 0, before, after, before, after], "constant", 0)
            y = self.spatial(y)[:, before:-after, before:-after, :].contiguous()
        else:
            y = self.spatial(y)
        x = x + y.view(batch, height * width, channels)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    """Four neighbours become one position of twice the width."""

    def __init__(self, resolution, dim: int):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x):
        height, width = self.resolution
        batch, _, channels = x.shape
        x = x.view(batch, height, width, channels)
        corners = [x[:, row::2, column::2, :] for column in (0, 1) for row in (0, 1)]
        x = torch.cat(corners, -1).view(batch, -1, 4 * channels)
        return self.reduction(self.norm(x))


class BasicLayer(nn.Module):
    """Blocks at one resolution, every other one shifted, and the step to the next resolution."""

    def __init__(self, dim, resolution, depth, num_heads, window_size, mlp_ratio, drop, merges: bool):
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinMLPBlock(dim, resolution, num_heads, window_size, i % 2 * (window_size // 2), mlp_ratio, drop)
            for i in range(depth)
        )
        self.downsample = PatchMerging(resolution, dim) if merges else None

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x if self.downsample is None else self.downsample(x)


class PatchEmbed(nn.Module):
    """(batch, in_chans, h, w) -> (batch, patches, embed_dim)."""

    def __init__(self, patch_size: int, in_chans: int, embed_dim: int):
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x):
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class Model(nn.Module):
    """(batch, in_chans, img_size, img_size) -> (batch, num_classes)."""

    def __init__(
        self,
        img_size: int = 224,
        patch_size: int = 4,
        in_chans: int = 3,
        num_classes: int = 1000,
        embed_dim: int = 96,
        depths=(2, 2, 6, 2),
        num_heads=(3, 6, 12, 24),
        window_size: int = 7,
        mlp_ratio: float = 4.0,
        drop_rate: float = 0.0,
    ):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim)
        self.pos_drop = nn.Dropout(p=drop_rate)
        side, dim = img_size // patch_size, embed_dim
        self.layers = nn.ModuleList()
        for i, (depth, heads) in enumerate(zip(depths, num_heads)):
            merges = i + 1 < len(depths)
            self.layers.append(BasicLayer(dim, (side, side), depth, heads, window_size, mlp_ratio, drop_rate, merges))
            if merges:
                side, dim = side // 2, dim * 2
        self.norm = nn.LayerNorm(dim)
        self.avgpool = nn.AdaptiveAvgPool1d(1)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.pos_drop(self.patch_embed(x))
        for layer in self.layers:
            x = layer(x)
        x = self.avgpool(self.norm(x).transpose(1, 2))
        return self.head(torch.flatten(x, 1))


batch_size = 10
image_size = 224


def get_inputs():
    return [torch.rand(batch_size, 3, image_size, image_size)]


def get_init_inputs():
    return []
