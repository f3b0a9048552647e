"""Self-attention over all pixels of a small image: 16,384 positions, so that the weights alone would fill 8.6 GB."""

import torch
from torch import nn


class Model(nn.Module):
    """norm(attention(x) + x) with pixels as the sequence: (batch, embed_dim, h, w) -> the same."""

    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x):
        batch, channels, height, width = x.shape
        pixels = x.view(batch, channels, height * width).permute(2, 0, 1)  # (pixel, batch, channel)
        mixed, _ = self.attn(pixels, pixels, pixels)
        return self.norm(mixed + pixels).permute(1, 2, 0).view(x.shape)


embed_dim = 128
num_heads = 4
batch_size = 2
image_height = 128
image_width = 128


def get_inputs():
    return [torch.rand(batch_size, embed_dim, image_height, image_width)]


def get_init_inputs():
    return [embed_dim, num_heads]
