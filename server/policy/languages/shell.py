"""Shell code, read with a real grammar: which programs it starts, on what, and what is unclear.

The grammar is tree-sitter's for bash. It knows quoting, substitution, pipes, here-documents; what
it cannot make sense of is reported as unclear, never passed over.
"""

import codecs
import re
from collections.abc import Sequence
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from sayso.server.policy.actions import UNKNOWN, Actions, Trait
from sayso.server.policy.analysis_budget import spent_on
from sayso.server.policy.languages import shell_evaluation
from sayso.server.policy.programs.arguments import Programs, Reader
from sayso.server.policy.programs.wrappers import changes_meaning

DEPTH = 8
"""Shells in shells: more is a game of hide and seek."""

LONGEST = 20_000
"""Characters: what is longer is not read by a person either."""

MOST_SIGNS = 1_500
"""Of what opens, closes or joins: the grammar's search for a meaning of broken code grows with the
square of them, to a fifth of a second here, and nobody else gets a turn meanwhile."""

_SIGNS = frozenset("(){}|&`<[;")

_PATTERN = re.compile(r"(?<!\\)[*?\[{]")
_COUNTED = re.compile(r"'[^']*(?:\$\(|`)")
"""Substitutions in single quotes, which the index of a list is worked out with all the same."""

_UNREADABLE: frozenset[Trait] = frozenset(("cannot be read",))


def read(code: str, python: Reader | None = None, depth: int = 0) -> Actions:
    """What shell code would do. `python` reads the code of `python -c`."""
    if depth > DEPTH:
        return Actions(unclear=("hides shells in shells",))
    if len(code) > LONGEST:
        return Actions(traits=_UNREADABLE, unclear=("is too long to be looked through",))
    if sum(map(code.count, _SIGNS)) > MOST_SIGNS:
        return Actions(traits=_UNREADABLE, unclear=("is too tangled to be looked through",))
    with spent_on(code) as enough:
        if not enough:
            return Actions(traits=_UNREADABLE, unclear=("is too long to be looked through",))
        try:
            return _Reader(python, depth).read(code)
        except RecursionError:
            return Actions(traits=_UNREADABLE, unclear=("is nested too deep to be looked through",))


def of_words(words: tuple[str, ...], python: Reader | None = None, depth: int = 0) -> Actions:
    """What a program would do that is started with exactly these words, by no shell."""
    return _Reader(python, depth).of_words(words)


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


class _Reader:
    def __init__(self, python: Reader | None, depth: int) -> None:
        self._found = Programs(python, lambda code: read(code, python, depth + 1))
        self._variables: dict[str, str] = {}
        self._works_out = self._holds_code = False
        """Whether values of variables are worked out, and whether one may hold code."""
        self._alone = {
            "file_redirect": self._redirect,
            "variable_assignment": self._assign,
            "function_definition": self._function,
        }
        """What is read without what comes before it."""

    def read(self, code: str) -> Actions:
        tree = Parser(_language()).parse(code.encode())
        if tree.root_node.has_error:
            self._found.unclear.append("is no shell code that can be read for certain")
            self._found.traits.add("cannot be read")
        self._visit(tree.root_node, ())
        if self._works_out and self._holds_code:
            self._found.unclear.append("works out what a variable holds, which may be code")
        return self._found.all()

    def of_words(self, words: tuple[str, ...]) -> Actions:
        self._found.take(words, (), ())
        return self._found.all()

    # --- the tree ---

    def _visit(self, node: Node, before: Sequence[str]) -> None:
        self._note_evaluation(node)
        match node.type:
            case "command":
                self._command(node, before)
            case "pipeline":
                self._pipeline(node, before)
            case "redirected_statement":
                self._redirected(node, before)
            case "heredoc_body":
                self._found.documents.append(_text(node))
                self._all(node, ())
            case "file_redirect" | "variable_assignment" | "function_definition":
                self._alone[node.type](node)
            case "test_command" | "unset_command" | "declaration_command":
                if _COUNTED.search(_text(node)):
                    self._found.unclear.append("works out what is between quotes")
                self._all(node, before)
            case "comment":
                pass
            case _:
                self._all(node, before)

    def _note_evaluation(self, node: Node) -> None:
        if shell_evaluation.works_out(node):
            self._works_out = True
            self._holds_code |= shell_evaluation.takes_from_outside(node)
        if node.type == "for_statement":
            values = node.children_by_field_name("value")
            self._holds_code |= any(map(self._may_be_code, values))

    def _may_be_code(self, value: Node) -> bool:
        """Of what a variable is given."""
        if value.type == "arithmetic_expansion":
            return False
        return shell_evaluation.may_be_code(self._word(value)) or bool(
            _PATTERN.search(_text(value))
        )

    def _all(self, node: Node, before: Sequence[str]) -> None:
        for child in node.named_children:
            self._visit(child, before)

    def _pipeline(self, node: Node, before: Sequence[str]) -> None:
        names = list(before)
        for child in node.named_children:
            seen = len(self._found.commands)
            self._visit(child, tuple(names))
            names += [command.name for command in self._found.commands[seen:]]

    def _redirected(self, node: Node, before: Sequence[str]) -> None:
        body = node.child_by_field_name("body")
        given = list(before)
        redirects = [child for child in node.named_children if child != body]
        if any(child.type.startswith("here") or _reads(child) for child in redirects):
            given.append("<<")
        seen = len(self._found.commands)
        if body is not None:
            self._visit(body, tuple(given))
        names = [command.name for command in self._found.commands[seen:]]
        for child in redirects:
            if child.type == "herestring_redirect":
                self._found.documents += [self._word(each) for each in child.named_children]
            elif child.type == "heredoc_redirect":
                for each in child.named_children:
                    self._visit(each, (*given, *names))
            else:
                self._visit(child, before)

    def _redirect(self, node: Node) -> None:
        destination = node.child_by_field_name("destination")
        if destination is None:
            return
        path = self._word(destination)
        writes = any(">" in child.type for child in node.children)
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            self._found.traits.add("shell over the network")
            self._found.hosts.append(path.split("/")[3])
        elif not path.isdigit() and path != "-":
            self._found.touch(path, "write" if writes else "read")

    def _assign(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        known = self._word(value) if value is not None else ""
        if value is not None and value.type != "arithmetic_expansion":
            self._holds_code |= shell_evaluation.may_be_code(known)
        self._note_evaluation(name)
        variable = _text(name)
        again = variable in self._variables and self._variables[variable] != known
        self._variables[variable] = UNKNOWN if again else known
        if changes_meaning(variable):
            self._found.unclear.append(f"sets {variable}, which can make any command mean another")

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        seen = len(self._found.commands)
        if body is not None:
            self._visit(body, ())
        inside = [command.name for command in self._found.commands[seen:]]
        if name is not None and inside.count(_text(name)) > 1:
            self._found.traits.add("fork bomb")

    def _command(self, node: Node, before: Sequence[str]) -> None:
        words: list[str] = []
        seen = len(self._found.commands)
        here = list(before)
        for child in node.named_children:
            match child.type:
                case "variable_assignment":
                    self._assign(child)
                case "file_redirect":
                    self._redirect(child)
                    here += ["<<"] if _reads(child) else []
                case "herestring_redirect" | "heredoc_redirect":
                    here.append("<<")
                    self._found.documents += [self._word(each) for each in child.named_children]
                case "command_name":
                    words.append(self._name(child.named_children[0]) if child.child_count else "")
                case _:
                    words.append(self._word(child))
        within = [command.name for command in self._found.commands[seen:]]
        if words:
            self._works_out |= shell_evaluation.works_out_words(tuple(words))
            self._holds_code |= shell_evaluation.fills_variables(tuple(words))
            self._found.take(tuple(words), here, within)

    def _name(self, node: Node) -> str:
        """A command's name. What a pattern comes to is only known when the code runs."""
        pieces = node.named_children if node.type == "concatenation" else [node]
        if any(piece.type == "word" and _PATTERN.search(_text(piece)) for piece in pieces):
            return _PATTERN.sub(UNKNOWN, self._word(node))
        return self._word(node)

    def _word(self, node: Node) -> str:
        self._note_evaluation(node)
        match node.type:
            case "word" | "number" | "variable_name" | "raw_string" | "ansi_c_string":
                text = _literal(node)
                self._holds_code |= shell_evaluation.CODE.search(text) is not None
                return text
            case "string_content":
                return _unescaped(_text(node), only='"\\$`\n')
            case "command_name" | "concatenation" | "translated_string":
                return "".join(self._word(child) for child in node.named_children)
            case "string":
                return self._string(node)
            case "simple_expansion" | "expansion":
                return self._expansion(node)
            case _:
                self._all(node, ())
                return UNKNOWN

    def _string(self, node: Node) -> str:
        """The text between the quotes; white space beside an expansion is no node of its own."""
        whole, at, found = node.text or b"", node.start_byte + 1, ""
        for child in node.named_children:
            found += whole[at - node.start_byte : child.start_byte - node.start_byte].decode()
            found += self._word(child)
            at = child.end_byte
        return found + whole[at - node.start_byte : -1].decode()

    def _expansion(self, node: Node) -> str:
        children = node.named_children
        if len(children) == 1 and children[0].type == "variable_name":
            name = _text(children[0])
            plain = _text(node) in (f"${name}", f"${{{name}}}")
            if plain:
                return "~" if name == "HOME" else self._variables.get(name, UNKNOWN)
        for child in children:
            if child.type not in ("variable_name", "special_variable_name"):
                self._word(child)
        return UNKNOWN


def _reads(node: Node) -> bool:
    """Whether it lets a command read a file as its input."""
    return node.type == "file_redirect" and any("<" in child.type for child in node.children)


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _literal(node: Node) -> str:
    """A word in which nothing is worked out."""
    text = _text(node)
    match node.type:
        case "word":
            return _unescaped(text)
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return _decoded(text[2:-1])
        case _:
            return text


def _unescaped(text: str, only: str = "") -> str:
    found, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and (not only or text[at + 1] in only):
            at += 1
            if text[at] != "\n":
                found.append(text[at])
        else:
            found.append(text[at])
        at += 1
    return "".join(found)


def _decoded(text: str) -> str:
    try:
        return codecs.decode(text, "unicode_escape")
    except ValueError:
        return UNKNOWN
