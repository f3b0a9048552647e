"""What forward returned as the tree of docs/plan.md ({"t": i}, {"tuple": [...]}, {"list": [...]}, {"value": v},
{"dict": [[key, tree]]}) and its tensors in order."""

from __future__ import annotations

from typing import Any

import torch

from model.failure import Failure

Tree = dict[str, Any]


def flatten(value: Any) -> tuple[Tree, list[torch.Tensor]]:
    tensors: list[torch.Tensor] = []
    return _tree(value, tensors), tensors


def _tree(value: Any, tensors: list[torch.Tensor]) -> Tree:
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"t": len(tensors) - 1}
    if isinstance(value, tuple):
        return {"tuple": [_tree(item, tensors) for item in value]}
    if isinstance(value, list):
        return {"list": [_tree(item, tensors) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[str(key), _tree(item, tensors)] for key, item in value.items()]}
    if value is None or isinstance(value, (bool, int, float)):
        return {"value": value}
    raise Failure("task", "task_error", f"forward returns a {type(value).__name__}; tensors, tuples, lists, dicts, "
                  "numbers and None can be compared")


def renumbered(tree: Tree) -> Tree:
    """A plan's tree, whose leaves are tensor ids, with its leaves counted in order instead."""
    count = 0

    def walk(node: Tree) -> Tree:
        nonlocal count
        if "t" in node:
            count += 1
            return {"t": count - 1}
        for kind in ("tuple", "list"):
            if kind in node:
                return {kind: [walk(item) for item in node[kind]]}
        if "dict" in node:
            return {"dict": [[key, walk(item)] for key, item in node["dict"]]}
        return node

    return walk(tree)


def leaf_names(tree: Tree, name: str = "output") -> list[str]:
    """A name for each tensor, in order: output, output[1], output["mask"]."""
    if "t" in tree:
        return [name]
    if "dict" in tree:
        return [leaf for key, item in tree["dict"] for leaf in leaf_names(item, f'{name}["{key}"]')]
    items = tree.get("tuple", tree.get("list", []))
    return [leaf for i, item in enumerate(items) for leaf in leaf_names(item, f"{name}[{i}]")]


def in_words(tree: Tree) -> str:
    if "t" in tree:
        return "a tensor"
    if "value" in tree:
        return f"the value {tree['value']!r}"
    kind = next(iter(tree))
    inner = tree[kind]
    if kind == "dict":
        return "a dict of " + (", ".join(f"{key}: {in_words(item)}" for key, item in inner) or "nothing")
    return f"a {kind} of ({', '.join(in_words(item) for item in inner)})"
