"""Formulas of numbers and variables, for instance ``flops / num_nodes^alpha``."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from simplugin.core.errors import SimpluginError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.inputs.locations import shown

_LONGEST = 1000
_EXAMPLE = "write for example flops / num_nodes^0.8, or a > 2 ? b : c"
_INNERMOST = re.compile(r"\(([^()]*)\)")
_WORDS = {"^": "**", "&&": " and ", "||": " or "}
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: math.fmod,
    ast.Pow: math.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    **{each.__name__: each for each in (abs, max, min)},
    **{each.__name__: each for each in (math.ceil, math.exp, math.floor, math.pow, math.sqrt)},
    **{each.__name__: each for each in (math.log, math.log2, math.log10)},
    "round": lambda value: math.floor(value + 0.5),
}


class FormulaError(SimpluginError):
    """A formula that cannot be read or evaluated.

    Attributes
    ----------
    message, remedy : str
        The cause, and how to correct it.
    """

    def __init__(self, message: str, remedy: str = _EXAMPLE) -> None:
        super().__init__(f"{message}; {remedy}")
        self.message = message
        self.remedy = remedy


def formula_value(text: str, variables: Mapping[str, float]) -> float:
    """Return the value of a formula.

    It has numbers, variables, ``+ - * / % ^``, comparisons, ``&& || and or``, ``a ? b : c``,
    parentheses, and the functions abs, ceil, exp, floor, log, log10, log2, max, min, pow, round,
    sqrt. Truth values are 1 and 0.

    Parameters
    ----------
    text : str
        The formula.
    variables : mapping of str to float
        Values of its variables.

    Raises
    ------
    FormulaError
        The text is no formula, a variable is unknown, or the value is not a finite number.
    """
    try:
        value = float(_value(_parsed(text), variables))
    except (ArithmeticError, ValueError, TypeError, RecursionError):
        value = math.nan
    if not math.isfinite(value):
        given = ", ".join(f"{name} = {number:g}" for name, number in variables.items())
        raise FormulaError(f"{shown(text)} has no value with {given}", "correct it")
    return value


@lru_cache(maxsize=1000)
def _parsed(text: str) -> ast.expr:
    """Return the tree of a formula."""
    try:
        if len(text) > _LONGEST or set(text) & set("§\\#'\"\n"):
            raise ValueError
        return ast.parse(_python(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"{shown(text)} is no formula") from None


def _python(text: str) -> str:
    """Return a formula in Python's words; what is in parentheses is done first."""
    parts: list[str] = []

    def rewritten(inner: str) -> str:
        """Return what has no parentheses in Python's words."""
        return ", ".join(map(_choice, inner.split(",")))

    def kept(found: re.Match[str]) -> str:
        """Keep a part, and return its number."""
        parts.append(f"({rewritten(found[1])})")
        return f"§{len(parts) - 1}§"

    while _INNERMOST.search(text):
        text = _INNERMOST.sub(kept, text)
    text = _choice(text)
    while "§" in text:
        text = re.sub(r"§(\d+)§", lambda found: parts[int(found[1])], text)
    for word, meaning in _WORDS.items():
        text = text.replace(word, meaning)
    return text


def _choice(text: str) -> str:
    """Return ``a ? b : c`` in Python's words; the last of several is the innermost."""
    while "?" in text:
        before, _, after = text.rpartition("?")
        yes, colon, rest = after.partition(":")
        if not colon:
            raise ValueError
        no, colon, others = rest.partition(":")
        start = max(before.rfind("?"), before.rfind(":")) + 1
        text = f"{before[:start]} (({yes}) if ({before[start:]}) else ({no})) {colon}{others}"
    return text


def _value(node: ast.expr, variables: Mapping[str, float]) -> float:
    """Return the value of a part of a tree."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name not in variables:
                known = did_you_mean(name, variables, 2) or f"there are {', '.join(variables)}"
                raise FormulaError(f"variable {shown(name)} is unknown", known)
            return variables[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, variables))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, variables), _value(right, variables))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, variables), _value(right, variables))
        case ast.BoolOp(op=op, values=values):
            join = all if isinstance(op, ast.And) else any
            return join(_value(each, variables) for each in values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, variables) else orelse, variables)
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(each, variables) for each in given))
    raise FormulaError(f"{shown(ast.unparse(node))} is no part of a formula")
