# Reads the Python files of a function, runs none, and names what keeps it from starting.
# Standard input: {"files": {path: text, ...}, "entry": {"files": [path, ...], "callable": name}}. Standard output: a list of faults.
import ast
import difflib
import json
import sys

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Module(ast.NodeVisitor):
    """What a module imports, and which names it binds."""

    def __init__(self):
        self.imports = []  # (line, dotted name, whether it is tried or done later)
        self.names = set()
        self.open = False  # names may be bound in ways that no parser sees
        self.tried = 0
        self.inside = 0

    def bind(self, name):
        if not self.inside:
            self.names.add(name)

    def note(self, node, name):
        self.imports.append((node.lineno, name, bool(self.tried or self.inside)))

    def visit_Import(self, node):
        for a in node.names:
            self.note(node, a.name)
            self.bind(a.asname or a.name.split(".")[0])

    def visit_ImportFrom(self, node):
        if not node.level and node.module:
            self.note(node, node.module)
        for a in node.names:
            if a.name == "*":
                self.open = True
            else:
                self.bind(a.asname or a.name)

    def visit_Try(self, node):
        self.tried += 1
        self.generic_visit(node)
        self.tried -= 1

    visit_TryStar = visit_If = visit_Try

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        elif node.id in ("globals", "exec", "setattr", "vars"):
            self.open = True

    def visit_Global(self, node):
        self.names.update(node.names)

    def generic_visit(self, node):
        scope = isinstance(node, SCOPES)
        if scope and getattr(node, "name", None):
            self.bind(node.name)
            self.open = self.open or node.name == "__getattr__"
        self.inside += scope
        super().generic_visit(node)
        self.inside -= scope


def find(files, name):
    """The files of the bundle that importing a dotted name reads."""
    parts = name.split(".")
    found = []
    for n in range(1, len(parts) + 1):
        base = "/".join(parts[:n])
        found += [p for p in (base + ".py", base + "/__init__.py") if p in files]
    return found


def check(files, entry):
    tops = {p.split("/")[0].removesuffix(".py") for p in files}
    first = next((p for p in entry["files"] if p in files), None)
    faults, queue, seen = [], [first] if first else [], {first}
    for path in queue:
        try:
            tree = ast.parse(files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            line = getattr(e, "lineno", None) or 0
            faults.append({"path": path, "line": line, "kind": "syntax", "detail": getattr(e, "msg", None) or str(e), "near": "", "sure": path == first})
            continue
        module = Module()
        try:
            module.visit(tree)
        except RecursionError:
            continue
        want = entry["callable"].split(".")[0]
        if path == first and want and want not in module.names and not module.open:
            near = difflib.get_close_matches(want, sorted(module.names), 1, 0.6)
            faults.append({"path": path, "line": 0, "kind": "handler", "detail": entry["callable"], "near": near[0] if near else "", "sure": True})
        for line, name, later in module.imports:
            top = name.split(".")[0]
            if top not in tops and top not in sys.stdlib_module_names and not later:
                faults.append({"path": path, "line": line, "kind": "import", "detail": top, "near": "", "sure": False})
            for p in find(files, name):
                if p not in seen:
                    seen.add(p)
                    queue.append(p)
    return faults


question = json.load(sys.stdin)
json.dump(check(question["files"], question["entry"]), sys.stdout)
