"""A corpus that any Python can make: the docstrings of the standard library's modules, and of their public
functions and classes.

    python3 docstrings.py [BYTES] > docstrings.txt
"""

import ast
import pathlib
import sys
import sysconfig

LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "lib2to3", "__pycache__"}


def docstrings():
    """Every docstring, in the order of the files' names and then of the files. Nothing is imported."""
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).parts
        if LEFT_OUT.intersection(parts) or any(part.startswith("_") for part in parts):
            continue
        try:
            module = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        named = [
            node
            for node in module.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_")
        ]
        for node in [module, *named]:
            if text := ast.get_docstring(node):
                yield text


def corpus(limit=None):
    """All docstrings as one text, a blank line between; of about `limit` characters if it is given."""
    texts, size = [], 0
    for text in docstrings():
        texts.append(text.encode("utf-8", "replace").decode())
        size += len(text) + 2
        if limit and size >= limit:
            break
    return "\n\n".join(texts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(corpus(int(sys.argv[1]) if len(sys.argv) > 1 else None))
