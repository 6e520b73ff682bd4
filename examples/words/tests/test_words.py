"""Run from the function's folder: python3 -m unittest discover tests."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import main


class Context:
    def __init__(self, folder):
        self.folder = folder

    def input_path(self, name):
        return Path(self.folder, name)


class Words(unittest.TestCase):
    def test_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.txt").write_text("One, two; drei-vier.\n\nStraße 42\n", encoding="utf-8")
            Path(folder, "b.txt").write_text("", encoding="utf-8")
            files = [{"path": "a.txt"}, {"path": "b.txt"}]
            self.assertEqual(main.handler(files, Context(folder)), {"files": 2, "lines": 3, "words": 5, "letters": 20, "longest": 6})
            self.assertEqual(main.handler(files[1], Context(folder)), {"files": 1, "lines": 0, "words": 0, "letters": 0, "longest": 0})


if __name__ == "__main__":
    unittest.main()
