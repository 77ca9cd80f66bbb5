"""Puts the files of the repository that pages link to beside the pages, so that a link works on a
code host and in the site. Markdown files become pages, and their links are followed in turn."""

import pathlib
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "pages"
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def is_outside(target: str) -> bool:
    return "://" not in target and not target.startswith("mailto:")


def resolved(target: str, folder: pathlib.Path) -> pathlib.Path:
    """The file in the repository. Raises PluginError where there is none."""
    path = (folder / target).resolve()
    if not path.exists():
        raise PluginError(f"{folder}: a link to {target}, which does not exist")
    return path


def uri_of(path: pathlib.Path) -> str:
    """Where the site has a file: a page at its name, any other file under repository/."""
    if path.parent == PAGES:
        return path.name
    return "repository/" + path.relative_to(ROOT).as_posix()


def linked_from(path: pathlib.Path, found: dict) -> None:
    """Adds every file that can be reached from a page."""
    for match in LINK.finditer(path.read_text(encoding="utf-8")):
        if not is_outside(match[2]):
            continue
        target = resolved(match[2], path.parent)
        if target.is_dir() or target.parent == PAGES or uri_of(target) in found:
            continue
        found[uri_of(target)] = target
        if target.suffix == ".md":
            linked_from(target, found)


def on_files(files, config):
    found = {}
    for page in sorted(PAGES.glob("*.md")):
        linked_from(page, found)
    for uri, path in found.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    source = pathlib.Path(page.file.abs_src_path)
    depth = page.file.src_uri.count("/")

    def rewritten(match):
        if not is_outside(match[2]):
            return match[0]
        target = resolved(match[2], source.parent)
        if target.is_dir():
            return match[0].replace(match[2], "#") if not match[3].startswith("#") else match[0]
        return match[1] + "../" * depth + uri_of(target) + match[3]

    return LINK.sub(rewritten, markdown)
