"""Makes a wheel of one extension: make_wheel.py EXTENSION FOLDER. The same extension makes the same bytes."""

import base64
import hashlib
import os
import sys
import zipfile

NAME, VERSION, TAG = "collatz_c", "1.0", "cp39-abi3-linux_x86_64"
INFO = f"{NAME}-{VERSION}.dist-info"

with open(sys.argv[1], "rb") as extension:
    files = {os.path.basename(sys.argv[1]): extension.read()}
files[f"{INFO}/METADATA"] = f"Metadata-Version: 2.1\nName: collatz-c\nVersion: {VERSION}\n".encode()
files[f"{INFO}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
record = ""
with zipfile.ZipFile(os.path.join(sys.argv[2], f"{NAME}-{VERSION}-{TAG}.whl"), "w") as wheel:
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
        wheel.writestr(zipfile.ZipInfo(path), data)
    wheel.writestr(zipfile.ZipInfo(f"{INFO}/RECORD"), record + f"{INFO}/RECORD,,\n")
