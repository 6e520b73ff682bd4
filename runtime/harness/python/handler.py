"""What is the same wherever a function runs: finding the handler, its context, the output of scripts."""

import os
import sys
import types


class Context:
    """What a handler may know of its shard; the same for every attempt, but for the folders."""

    def __init__(self, shard, seed, output_dir, input_dir):
        self.shard = shard  # its number in the job
        self.seed = seed  # 64 bits, the same on every machine
        self.output_dir = output_dir  # files in it become artifacts
        self.input_dir = input_dir  # the files of the shard, to be read only
        self.item = None  # the number in the shard of the item that the handler got, where it takes items

    def input_path(self, name):
        """Where a file of the shard lies; name is a path of the input."""
        return os.path.join(self.input_dir, *name.split("/"))

    def __repr__(self):
        return f"Context(shard={self.shard}, seed={self.seed}, output_dir={self.output_dir!r})"


def load(config):
    """Imports the handler, or compiles the script."""
    path = config["bundle"]
    sys.path.insert(0, path)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if config["script"]:
        main.__file__ = os.path.join(path, config["script"])
        sys.argv = [main.__file__]
        with open(main.__file__, "rb") as file:
            return compile(file.read(), main.__file__, "exec")
    sys.argv = [path]
    __import__(config["module"])
    function = getattr(sys.modules[config["module"]], config["callable"], None)
    if not callable(function):
        raise AttributeError(f"the module {config['module']} has no callable {config['callable']}: define it, or name another entrypoint in function.toml")
    return function


def takes_context(function):
    """Tells whether a handler has a second positional parameter that must be
    given, or that is called context."""
    bound, plain = 0, function
    if type(plain) is types.MethodType:
        bound, plain = 1, plain.__func__
    if type(plain) is types.FunctionType and not hasattr(plain, "__wrapped__"):
        code, second = plain.__code__, bound + 1
        if code.co_argcount <= second:
            return False
        needed = code.co_argcount - len(plain.__defaults__ or ())
        return second < needed or code.co_varnames[second] == "context"
    import inspect  # many modules, which every fork pays for

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if len(parameters) < 2 or parameters[1].kind not in (parameters[1].POSITIONAL_ONLY, parameters[1].POSITIONAL_OR_KEYWORD):
        return False
    return parameters[1].default is parameters[1].empty or parameters[1].name == "context"


def unique(pairs):
    out = dict(pairs)
    if len(out) < len(pairs):
        raise OutputError("an object of the result has the same key twice")
    return out


def constant(name):
    raise OutputError(f"{name} is not JSON: print null or a string instead")
