"""An operator's arguments by name, each once: what runs later must not be able to read a call otherwise than what checked it."""
from __future__ import annotations

from typing import Any


class WrongArguments(ValueError):
    """One line that says which."""


def by_name(func: Any, args: list | tuple, kwargs: dict) -> dict[str, Any]:
    """The given arguments, without defaults. Raises WrongArguments for one too many, unknown or given twice."""
    schema = func._schema.arguments
    positional = [a.name for a in schema if not a.kwarg_only]
    if len(args) > len(positional):
        raise WrongArguments(f"{len(args)} arguments are given, it takes {len(positional)}")
    given = dict(zip(positional, args))
    for name, value in kwargs.items():
        if name in given:
            raise WrongArguments(f"the argument {name} is given twice")
        if name not in {a.name for a in schema}:
            raise WrongArguments(f"it has no argument {str(name)[:60]}")
        given[name] = value
    return given


def in_order(func: Any, args: list | tuple, kwargs: dict) -> list[Any]:
    """All arguments in the schema's order, defaults filled in. Raises WrongArguments, also for one that is missing."""
    given = by_name(func, args, kwargs)
    out = []
    for argument in func._schema.arguments:
        if argument.name not in given and not argument.has_default_value():
            raise WrongArguments(f"the argument {argument.name} is missing")
        out.append(given.get(argument.name, argument.default_value))
    return out
