"""Swin Transformer V2: attention by cosine within windows, shifted in every other block, with a learned bias by relative position."""

import math

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


def relative_coords_table(size: int):
    """(1, 2 * size - 1, 2 * size - 1, 2): offsets between two positions of a window, on a logarithmic scale."""
    offsets = torch.arange(-(size - 1), size, dtype=torch.float32)
    table = torch.stack(torch.meshgrid([offsets, offsets], indexing="ij")).permute(1, 2, 0).contiguous().unsqueeze(0)
    table /= size - 1
    table *= 8
    return torch.sign(table) * torch.log2(torch.abs(table) + 1.0) / math.log2(8)


def relative_position_index(size: int):
    """(positions, positions): where in the table the offset of two positions stands."""
    along = torch.arange(size)
    coords = torch.flatten(torch.stack(torch.meshgrid([along, along], indexing="ij")), 1)
    offsets = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
    offsets += size - 1
    offsets[:, :, 0] *= 2 * size - 1
    return offsets.sum(-1)


class WindowAttention(nn.Module):
    """(windows, positions, dim) -> the same. Keys have no bias."""

    def __init__(self, dim: int, window_size: int, num_heads: int, drop: float):
        super().__init__()
        self.num_heads = num_heads
        self.positions = window_size * window_size
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones((num_heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512, bias=True), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False)
        )
        self.register_buffer("relative_coords_table", relative_coords_table(window_size))
        self.register_buffer("relative_position_index", relative_position_index(window_size))
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(dim))
        self.v_bias = nn.Parameter(torch.zeros(dim))
        self.attn_drop = nn.Dropout(drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(drop)

    def position_bias(self):
        """(1, heads, positions, positions)."""
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        bias = table[self.relative_position_index.view(-1)].view(self.positions, self.positions, -1)
        return (16 * torch.sigmoid(bias.permute(2, 0, 1).contiguous())).unsqueeze(0)

    def forward(self, x, mask):
        windows, positions, dim = x.shape
        bias = torch.cat((self.q_bias, torch.zeros_like(self.v_bias), self.v_bias))
        qkv = F.linear(x, self.qkv.weight, bias).reshape(windows, positions, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        largest = torch.log(torch.tensor(1.0 / 0.01, device=x.device))
        scores = scores * torch.clamp(self.logit_scale, max=largest).exp() + self.position_bias()
        if mask is not None:
            of_image = mask.shape[0]
            scores = scores.view(-1, of_image, self.num_heads, positions, positions) + mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.num_heads, positions, positions)
        weights = self.attn_drop(torch.softmax(scores, dim=-1))
        return self.proj_drop(self.proj((weights @ v).transpose(1, 2).reshape(windows, positions, dim)))


def shift_mask(resolution, size: int, shift: int):
    """(windows, positions, positions): -100 between positions that only the shift brought into one window, else 0."""
    height, width = resolution
    region = torch.zeros((1, height, width, 1))
    bands = (slice(0, -size), slice(-size, -shift), slice(-shift, None))
    for number, (rows, columns) in enumerate((rows, columns) for rows in bands for columns in bands):
        region[:, rows, columns, :] = number
    region = window_partition(region, size).view(-1, size * size)
    apart = region.unsqueeze(1) - region.unsqueeze(2)
    return apart.masked_fill(apart != 0, -100.0).masked_fill(apart == 0, 0.0)


class SwinTransformerBlock(nn.Module):
    """x + norm1(attention(x)), then x + norm2(mlp(x)): (batch, height * width, dim) -> the same."""

    def __init__(self, dim, resolution, num_heads, window_size, shift_size, mlp_ratio, drop):
        super().__init__()
        if min(resolution) <= window_size:  # one window is all: nothing to shift
            window_size, shift_size = min(resolution), 0
        self.resolution = resolution
        self.window_size = window_size
        self.shift_size = shift_size
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window_size, num_heads, drop)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)
        self.register_buffer("attn_mask", shift_mask(resolution, window_size, shift_size) if shift_size > 0 else None)

    def forward(self, x):
        height, width = self.resolution
        batch, _, channels = x.shape
        size, shift = self.window_size, self.shift_size
        y = x.view(batch, height, width, channels)
        if shift > 0:
            y = torch.roll(y, shifts=(-shift, -shift), dims=(1, 2))
        y = self.attn(window_partition(y, size).view(-1, size * size, channels), self.attn_mask)
        y = window_reverse(y.view(-1, size, size, channels), size, height, width)
        if shift > 0:
            y = torch.roll(y, shifts=(shift, shift), dims=(1, 2))
        x = x + self.norm1(y.view(batch, height * width, channels))
        return x + self.norm2(self.mlp(x))


class PatchMerging(nn.Module):
    """Four neighbours become one position of twice the width."""

    def __init__(self, resolution, dim: int):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(2 * dim)

    def forward(self, x):
        height, width = self.resolution
        batch, _, channels = x.shape
        x = x.view(batch, height, width, channels)
        corners = [x[:, row::2, column::2, :] for column in (0, 1) for row in (0, 1)]
        x = torch.cat(corners, -1).view(batch, -1, 4 * channels)
        return self.norm(self.reduction(x))


class BasicLayer(nn.Module):
    """Blocks at one resolution, every other one shifted, and the step to the next resolution."""

    def __init__(self, dim, resolution, depth, num_heads, window_size, mlp_ratio, drop, merges: bool):
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinTransformerBlock(dim, resolution, num_heads, window_size, i % 2 * (window_size // 2), mlp_ratio, drop)
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
