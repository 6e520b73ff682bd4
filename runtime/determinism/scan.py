# Reads Python files, runs none, and names the calls in them whose results differ between machines or runs.
# Standard input: one JSON object {"path": text, ...}. Standard output: a JSON list of [path, line, kind, code].
import ast
import json
import sys

CALLS = {
    "clock": ["time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns",
              "time.process_time", "time.process_time_ns", "time.ctime", "time.asctime", "time.gmtime",
              "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"],
    "time_zone": ["time.localtime", "time.mktime", "time.strftime", "time.tzset", "datetime.datetime.fromtimestamp", "datetime.date.fromtimestamp"],
    "random": ["os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom", "secrets.*", "tempfile.*", "numpy.random.*"],
    "machine": ["os.getpid", "os.getppid", "os.getcwd", "os.uname", "os.cpu_count", "os.getloadavg", "os.getuid", "os.getlogin", "os.environ.get", "os.getenv",
                "platform.*", "socket.*", "multiprocessing.cpu_count", "os.path.abspath", "os.path.getmtime", "os.stat", "sys.getsizeof"],
    "listing": ["os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"],
    "threads": ["threading.Thread", "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.as_completed",
                "multiprocessing.Pool", "multiprocessing.Process", "_thread.start_new_thread"],
}
PLAIN = {"hash": "hash", "id": "machine"}


class Reader(ast.NodeVisitor):
    def __init__(self, path, lines):
        self.path, self.lines, self.names, self.found = path, lines, {}, []
        self.sets = set()  # names that were given a set
        self.ordered = set()  # nodes inside sorted(), len(), sum() and the like

    def note(self, node, kind):
        if node not in self.ordered or kind not in ("set_order", "listing"):
            self.found.append([self.path, node.lineno, kind, self.lines[node.lineno - 1].strip()[:120]])

    def visit_Import(self, node):
        for a in node.names:
            self.names[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]

    def visit_ImportFrom(self, node):
        for a in node.names:
            self.names[a.asname or a.name] = (node.module or "") + "." + a.name

    def dotted(self, node):
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return base and base + "." + node.attr
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        return None

    def visit_Call(self, node):
        plain = node.func.id if isinstance(node.func, ast.Name) and node.func.id not in self.names else None
        if plain in ("sorted", "len", "sum", "min", "max", "any", "all", "set", "frozenset"):
            self.ordered.update(node.args)
        name = self.dotted(node.func)
        for kind, calls in CALLS.items():
            if name and any(name == c or c.endswith(".*") and name.startswith(c[:-1]) for c in calls):
                self.note(node, kind)
        if plain in PLAIN:
            self.note(node, PLAIN[plain])
        if plain in ("list", "tuple", "enumerate", "iter", "zip", "map") and any(map(self.is_set, node.args)):
            self.note(node, "set_order")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join" and any(map(self.is_set, node.args)):
            self.note(node, "set_order")
        if name == "random.seed" and not node.args or name == "random.Random" and not node.args:
            self.note(node, "random")
        self.generic_visit(node)

    def visit_Assign(self, node):
        if self.is_set(node.value):
            self.sets.update(t.id for t in node.targets if isinstance(t, ast.Name))
        self.generic_visit(node)

    def is_set(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.sets
        return isinstance(node, (ast.Set, ast.SetComp)) or isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")

    def visit_For(self, node):
        if self.is_set(node.iter):
            self.note(node.iter, "set_order")
        self.generic_visit(node)

    def visit_comprehension(self, node):
        if self.is_set(node.iter):
            self.note(node.iter, "set_order")
        self.generic_visit(node)

    def visit_Global(self, node):
        self.note(node, "state")


found = []
for path, text in sorted(json.load(sys.stdin).items()):
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found.append([path, getattr(error, "lineno", None) or 0, "syntax", str(error)])
        continue
    reader = Reader(path, text.splitlines() or [""])
    try:
        reader.visit(tree)
    except RecursionError:
        pass
    found += reader.found
json.dump(found, sys.stdout)
