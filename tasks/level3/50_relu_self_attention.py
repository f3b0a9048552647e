"""Causal multi-head self-attention with a ReLU where softmax would be."""

import math

import torch
from torch import nn


class Model(nn.Module):
    """(batch, time, n_embd) -> (batch, time, n_embd). `c_proj` is part of the state but not of the function."""

    def __init__(self, n_embd: int, n_head: int, max_seqlen: int):
        super().__init__()
        if n_embd % n_head != 0:
            raise ValueError("n_embd must be a multiple of n_head")
        self.n_embd = n_embd
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)  # queries, keys and values of all heads at once
        self.c_proj = nn.Linear(n_embd, n_embd)
        visible = torch.ones(max_seqlen, max_seqlen).tril()  # 1 where a position may look, 0 in its future
        self.register_buffer("bias", visible.view(1, 1, max_seqlen, max_seqlen))

    def heads(self, projected):
        """(batch, time, n_embd) -> (batch, heads, time, n_embd / heads)."""
        batch, time, _ = projected.shape
        return projected.view(batch, time, self.n_head, self.n_embd // self.n_head).transpose(1, 2)

    def forward(self, x):
        time = x.size(1)
        q, k, v = (self.heads(part) for part in self.c_attn(x).split(self.n_embd, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.bias[:, :, :time, :time] == 0, float("-inf"))
        return (torch.relu(scores) @ v).transpose(1, 2).contiguous().view(x.shape)


batch_size = 16
max_seqlen = 1024
n_embd = 768
n_head = 12


def get_inputs():
    return [torch.rand(batch_size, max_seqlen, n_embd)]


def get_init_inputs():
    return [n_embd, n_head, max_seqlen]
