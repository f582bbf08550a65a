"""The tools of one conversation for work on code."""

from sayso.server.agent.tools.tool import Tool
from sayso.server.capabilities.coding.edits import Edit, Rename
from sayso.server.capabilities.coding.looks import GitLook, Outline, Read, RepoMap, Search
from sayso.server.capabilities.coding.patch import Patch
from sayso.server.capabilities.coding.run_tests import RunTests
from sayso.server.capabilities.coding.seen_files import SeenFiles


def coding_tools() -> tuple[Tool, ...]:
    """What a model does with files beside running code. They work where code does, with what code
    may touch, so every conversation has them."""
    seen = SeenFiles()
    edits = (Patch(seen), Edit(seen), Rename(seen))
    looks = (Read(seen), Search(seen), Outline(seen), RepoMap(seen), GitLook(seen))
    return (*edits, *looks, RunTests())
