"""Mamba-2's state space layer, computed block by block; only the state after the last block is returned."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    """(batch, length, heads, d_head) -> (batch, heads, d_head, d_state).

    A, B and C are parameters with a batch of their own. The sequence is cut into blocks: products within a block, and states carried
    from block to block."""

    def __init__(self, batch_size: int, seq_length: int, n_heads: int, d_head: int, d_state: int, block_len: int = 64):
        super().__init__()
        if seq_length % block_len != 0:
            raise ValueError("seq_length must be a multiple of block_len")
        self.block_len = block_len
        self.A = nn.Parameter(torch.randn(batch_size, seq_length, n_heads))
        self.B = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))
        self.C = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))

    @staticmethod
    def segment_sums(x):
        """(..., t) -> (..., t, t): entry (i, j) is the sum of x over j < k <= i, and minus infinity above the diagonal."""
        steps = x.size(-1)
        totals = torch.cumsum(x, dim=-1)
        sums = totals[..., :, None] - totals[..., None, :]
        lower = torch.tril(torch.ones(steps, steps, device=x.device, dtype=torch.bool), diagonal=0)
        return sums.masked_fill(~lower, -torch.inf)

    def blocks(self, x):
        """(batch, length, ...) -> (batch, blocks, block_len, ...)."""
        return x.unflatten(1, (-1, self.block_len))

    def forward(self, X, initial_states=None):
        x, a, b, c = (self.blocks(t) for t in (X, self.A, self.B, self.C))
        a = a.permute(0, 3, 1, 2)  # (batch, heads, blocks, block_len)
        a_totals = torch.cumsum(a, dim=-1)
        within = torch.exp(self.segment_sums(a))
        torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, within, x)  # computed and thrown away, as in the suite
        decay = torch.exp(a_totals[:, :, :, -1:] - a_totals)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, decay, x)  # what each block adds
        if initial_states is None:
            initial_states = torch.zeros_like(states[:, :1])
        states = torch.cat([initial_states, states], dim=1)
        carried = torch.exp(self.segment_sums(F.pad(a_totals[:, :, :, -1], (1, 0))))
        states = torch.einsum("bhzc,bchpn->bzhpn", carried, states)
        return states[:, -1]


batch_size = 2048
seq_length = 128
n_heads = 8
d_head = 64
d_state = 16
block_len = 64


def get_inputs():
    return [torch.rand(batch_size, seq_length, n_heads, d_head)]


def get_init_inputs():
    return [batch_size, seq_length, n_heads, d_head, d_state, block_len]
