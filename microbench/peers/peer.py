"""One implementation of an operation, ours or another's."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    name: str
    run: Callable  # operands of one set by name -> tuple of new tensors
    outputs: tuple = ()  # operands that the new tensors are; the others are updated in place
    prepare: Callable = lambda operands: operands  # of each set, before anything is timed
    expect: Callable = lambda expected: expected  # where the outputs are not the operation's own


@dataclass(frozen=True)
class Missing:
    name: str
    reason: str
