# Compiles the sources below the folder argv[1] whose paths come on standard input, in that order, into argv[2], and prints each when it is done.
# The result depends on nothing but the sources and this interpreter: the names in it are relative, and the
# cache files are valid without a look at the source ("unchecked"), because somebody else checks both.
import os
import py_compile
import sys

root, out, lenient = sys.argv[1], sys.argv[2], len(sys.argv) > 3
for line in sys.stdin:
    name = line.rstrip("\n")
    folder, base = os.path.split(name)
    cache = os.path.join(out, folder, "__pycache__", base[:-3] + "." + sys.implementation.cache_tag + ".pyc")
    try:
        py_compile.compile(os.path.join(root, name), cfile=cache, dfile=name, doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    except py_compile.PyCompileError:
        if not lenient:
            raise
    print(name, flush=True)
