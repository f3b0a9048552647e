"""A GPT block: causal self-attention written out, then a four times wider perceptron, each behind a layer norm."""

import math

import torch
from torch import nn


def new_gelu(x):
    """GELU by the tanh formula, written out."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class CausalSelfAttention(nn.Module):
    """(batch, time, n_embd) -> (batch, time, n_embd)."""

    def __init__(self, n_embd: int, n_head: int, attn_pdrop: float, resid_pdrop: float, max_seqlen: int):
        super().__init__()
        if n_embd % n_head != 0:
            raise ValueError("n_embd must be a multiple of n_head")
        self.n_embd = n_embd
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)  # queries, keys and values of all heads at once
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)
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
        weights = self.attn_dropout(torch.softmax(scores, dim=-1))
        mixed = (weights @ v).transpose(1, 2).contiguous().view(x.shape)
        return self.resid_dropout(self.c_proj(mixed))


class Model(nn.Module):
    """x + attn(ln_1(x)), then the same with the perceptron: (batch, time, n_embd) -> (batch, time, n_embd)."""

    def __init__(self, n_embd: int, n_head: int, attn_pdrop: float, resid_pdrop: float, max_seqlen: int):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(n_embd, 4 * n_embd), "c_proj": nn.Linear(4 * n_embd, n_embd)})
        self.dropout = nn.Dropout(resid_pdrop)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        hidden = new_gelu(self.mlp["c_fc"](self.ln_2(x)))
        return x + self.dropout(self.mlp["c_proj"](hidden))


batch_size = 128
max_seqlen = 1024
seq_len = 512
n_embd = 768
n_head = 8
attn_pdrop = 0.0
resid_pdrop = 0.0


def get_inputs():
    return [torch.rand(batch_size, seq_len, n_embd)]


def get_init_inputs():
    return [n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]
