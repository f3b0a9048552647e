"""Does `prepare` only move weights? Then it is free; else its time is charged to every call.

Proof by unique tags: every parameter word is filled with a number of its own. What prepare makes must consist of such
numbers and zeros: a layout of the weights, perhaps padded. With the true weights it must hold, at each place, the word
whose number was there; so a flag that is only set for certain weights is no layout."""

from __future__ import annotations

from typing import Any

import torch

from model.session import Answer, Request, Session

_FIRST, _LAST = 0x00800000, 0x7F7FFFFF  # the positive normal floats: no arithmetic is needed to carry them unchanged
_CHUNK = 1 << 24


def prepare_moves(session: Session, request: Request) -> Answer:
    """{"moves_only", "words": of what prepare made, "why", "prepare_ms": median of three more runs}"""
    plan = session.need_plan()
    if not plan.prepared():
        return {"moves_only": True, "words": 0, "why": "prepare makes nothing"}
    kept = [(p, p.detach().clone()) for p in session.model.parameters() if p.dtype == torch.float32]
    tags = sum(p.numel() for p, _ in kept)
    if tags > _LAST - _FIRST:
        return {"moves_only": False, "words": 0, "why": f"{tags} parameters are more than there are tags"}
    try:
        true = [tensor.clone() for tensor in plan.prepared()]
        _fill(kept)
        plan.prepare()
        made = plan.prepared()
        words = torch.cat([_words(before) for _, before in kept]) if kept else torch.empty(0, dtype=torch.int32)
        why = next((reason for reason in (_computed(*pair, words) for pair in zip(made, true)) if reason), "")
    finally:
        with torch.no_grad():
            for parameter, before in kept:
                parameter.copy_(before)
        plan.prepare()
    times = sorted(plan.prepare() for _ in range(3))
    return {"moves_only": not why, "words": sum(t.numel() for t in made), "why": why, "prepare_ms": times[1]}


def _fill(kept: list[tuple[Any, torch.Tensor]]) -> None:
    first = _FIRST
    with torch.no_grad():
        for parameter, _ in kept:
            flat = torch.arange(first, first + parameter.numel(), dtype=torch.int32, device=parameter.device)
            parameter.copy_(flat.view(torch.float32).view(parameter.shape))
            first += parameter.numel()


def _words(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().view(torch.int32).reshape(-1)


def _computed(tensor: torch.Tensor, true: torch.Tensor, words: torch.Tensor) -> str:
    """Why what prepare made is no layout of the weights' words; empty: it is one."""
    if tensor.element_size() != 4:
        return f"prepare makes a tensor of {str(tensor.dtype).removeprefix('torch.')}: other words than the weights have"
    tags, held = _words(tensor), _words(true)
    padded = torch.cat([words, words.new_zeros(1)])  # the last: what a zero stands for
    for begin in range(0, tags.numel(), _CHUNK):
        part = tags[begin:begin + _CHUNK].long()
        place = torch.where(part == 0, words.numel(), part - _FIRST)
        if bool(((place < 0) | (place > words.numel())).any()):
            return "prepare computes: what it makes holds numbers that no weight has"
        if not torch.equal(padded[place], held[begin:begin + _CHUNK]):
            return "prepare computes: what it makes depends on the weights' values, not only on their places"
    return ""
