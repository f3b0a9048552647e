"""A task file in KernelBench's format: class Model, get_inputs(), get_init_inputs(). Trusted code, run as it is."""

from __future__ import annotations

import os
import sys
import traceback
import types
from dataclasses import dataclass
from typing import Any, Callable

from torch import nn

from model.failure import Failure

_WANTED = (("Model", "a class derived from torch.nn.Module"), ("get_inputs", "a function that returns a list"),
           ("get_init_inputs", "a function that returns a list"))


@dataclass(frozen=True)
class Task:
    path: str
    model_class: type[nn.Module]
    get_inputs: Callable[[], list[Any]]
    get_init_inputs: Callable[[], list[Any]]


def load_task(path: str) -> Task:
    """Runs the file once. Raises Failure (stage task) with a line that says what is wrong with the file."""
    module = types.ModuleType("kagent_task")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses and inspect look their module up
    try:
        with open(path, encoding="utf-8") as file:
            source = file.read()
        exec(compile(source, path, "exec"), module.__dict__)
    except OSError as error:
        raise Failure("task", "task_error", f"{path}: cannot be read: {error.strerror}") from error
    except Exception as error:
        raise task_failure(path, "running the file", error) from error
    for name, what in _WANTED:
        if not callable(getattr(module, name, None)):
            raise Failure("task", "task_error", f"{path}: no {name}: a task file defines {name}, {what}")
    if not (isinstance(module.Model, type) and issubclass(module.Model, nn.Module)):
        raise Failure("task", "task_error", f"{path}: Model is not a class derived from torch.nn.Module")
    return Task(path, module.Model, module.get_inputs, module.get_init_inputs)


def listed(function: Callable[[], Any], name: str) -> list[Any]:
    """What get_inputs or get_init_inputs gives. A bare tensor would be taken apart along its first dimension."""
    values = function()
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name} must return a list, not a {type(values).__name__}")
    return list(values)


def task_failure(path: str, doing: str, error: BaseException) -> Failure:
    """An exception of the task file's own code, named with the file's line that raised it."""
    detail = "".join(traceback.format_exception(error))[-8000:]
    name = os.path.basename(path)
    if isinstance(error, ModuleNotFoundError):
        return Failure("task", "task_error", f"{name} imports {error.name}, which is not installed: "
                       f"{sys.executable} -m pip install {error.name}", detail)
    line = error.lineno if isinstance(error, SyntaxError) else _last_line_in(path, error)
    where = f"{name}:{line}" if line else name
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return Failure("task", "task_error", f"{where}: {doing}: {type(error).__name__}: {text}", detail)


def _last_line_in(path: str, error: BaseException) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None
