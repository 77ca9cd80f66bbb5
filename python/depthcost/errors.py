"""The one exception for a mistake in what the user has given."""

from __future__ import annotations


class InputError(ValueError):
    """The input is wrong. Its text is the line that the program prints: "file:line:column: error: problem (why)".

    `file` is the path of a file; "scenario" for a text; of a dict the keys that lead to the value, such as
    "workload.decode.context"; or the name of an argument. `line` and `column` are one-based, and 1 where there is no text.
    """

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(file, line, column, message)
        # An option of the command line is an argument here.
        self.file = file[2:].replace("-", "_") if file.startswith("--") else file
        self.line = line
        self.column = column
        self.problem, self.why = _parts(message)

    def __str__(self) -> str:
        why = f" ({self.why})" if self.why else ""
        return f"{self.file}:{self.line}:{self.column}: error: {self.problem}{why}"


def _parts(message: str) -> tuple[str, str]:
    """The problem, and what stands in the brackets that end the message."""
    depth = 0
    for index in range(len(message) - 1, -1, -1):
        depth += (message[index] == ")") - (message[index] == "(")
        if depth == 0:
            break
    else:
        return message, ""
    if index == len(message) - 1 or not message[:index].endswith(" "):
        return message, ""
    return message[: index - 1], message[index + 1 : -1]
