"""One interpreter a shard: for systems where the interpreter cannot be forked.

The program is given on the command line, so that no file on disk can be
exchanged for it. On standard input stand the length of a request, the request
and the input; the result goes to a descriptor, or on Windows a handle, that the
request names.
"""

import json
import os
import sys
from os import read, write
from struct import pack, unpack

ENCODE = json.JSONEncoder(ensure_ascii=False).encode
DECODE = json.JSONDecoder().decode
