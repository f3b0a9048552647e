"""Keeps torch's compiler out of a process that does not compile with it.

Tensors without data (FakeTensorMode) read one settings module of torch._dynamo, name their origin by a class of it, and their factory
functions ask for torch._dynamo.disable. Each of the three loads the whole of it, inductor included: a third of a worker's start.
Here stand modules that have just these and turn into the real ones when anything else is asked of them.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any

import torch

_PACKAGE = "torch._dynamo"
_SOURCE = "torch._dynamo.source"


class _StandIn(types.ModuleType):
    """Has what it is given. Any other name brings in the real compiler."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _bring_in()
        return getattr(importlib.import_module(self.__name__), name)


class _Label:
    """In place of torch._dynamo.source.ConstantSource: says where a tensor came from, for guards that nobody makes here."""

    def __init__(self, source_name: str):
        self.source_name = source_name


def _disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """Nothing is compiled here, so nothing has to be kept from it."""
    return fn if fn is not None else lambda decorated: decorated


def _bring_in() -> None:
    for name in (_SOURCE, _PACKAGE):
        stand_in = sys.modules.get(name)
        if isinstance(stand_in, _StandIn):  # whoever holds it still gets the real names from now on
            for given in [key for key in vars(stand_in) if not key.startswith("__")]:
                delattr(stand_in, given)
            del sys.modules[name]
    importlib.import_module(_PACKAGE)


def keep_out() -> None:
    """Before the first tensor without data. Does nothing where the compiler is loaded already."""
    if _PACKAGE in sys.modules:
        return
    package, source = _StandIn(_PACKAGE), _StandIn(_SOURCE)
    package.__path__ = [os.path.join(os.path.dirname(torch.__file__), "_dynamo")]  # its submodules load from there
    package.disable = _disable
    package.source = source
    source.ConstantSource, source.RandomValueSource = _Label, type("RandomValueSource", (_Label,), {})
    sys.modules.update({_PACKAGE: package, _SOURCE: source})
    torch._dynamo = package
