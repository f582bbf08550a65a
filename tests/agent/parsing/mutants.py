"""Slips that a programmer makes: a correct function, with one thing wrong."""

import ast
from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.FloorDiv,
    ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.BitXor: ast.BitOr,
}  # fmt: skip


def mutants(source: str, function: str) -> Iterator[str]:
    """The source with one slip in the function, the slips that are most like mistakes first."""
    for slip in (_compares, _counts, _computes, _forgets):
        tree = ast.parse(source)
        (body,) = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        if any(slip(node) for node in ast.walk(body)):
            yield ast.unparse(tree)


def _compares(node: ast.AST) -> bool:
    """Mistake one comparison for its neighbour."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        node.ops[0] = _COMPARED[type(node.ops[0])]()
        return True
    return False


def _counts(node: ast.AST) -> bool:
    """Be off by one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
        return True
    return False


def _computes(node: ast.AST) -> bool:
    """Take one operator for another."""
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        node.op = _COMPUTED[type(node.op)]()
        return True
    return False


def _forgets(node: ast.AST) -> bool:
    """Forget to return what was found."""
    if isinstance(node, ast.Return) and node.value is not None:
        node.value = None
        return True
    return False
