"""What ostraka.py does without a server: values, source text, inputs, bundles."""
import datetime
import decimal
import functools
import io
import json
import math
import os.path
import random
import sys
import traceback
import unittest
import unittest.mock
from math import isqrt

import ostraka

FACTOR = 3
TABLE = {"a": (1, 2.5), "b": [b"x", None, True]}
ENDLESS = math.inf


class Point:
    def __init__(self, x):
        self.x = x * FACTOR


def helper(x):
    return Point(x).x


def count_down(n):
    return 0 if n == 0 else count_down(n - 1)


def everything(x: "int", y=FACTOR) -> "int":
    inner = [helper(i) for i in range(x)]
    return sum(inner) + isqrt(y) + math.floor(1.5) + len(os.path.sep) + len(TABLE) + len(json.dumps(x)) + (1 if ENDLESS > 1 else 0)


def sets_global(x):
    global FACTOR
    FACTOR = x


def uses_unittest_case(x):
    return CASE, x


def uses_third_party(x):
    return THIRD.thing(x)


def uses_nothing_known(x):
    return not_defined_anywhere(x)  # noqa: F821


CASE = unittest.TestCase("__init__")
THIRD = type(sys)("surely_not_in_the_standard_library")


def executed(text):
    """The names that a source text defines, run as agents run it: nothing else is there."""
    names = {"__name__": "user_code"}
    exec(compile(text, "user_code.py", "exec"), names)
    return names


class Values(unittest.TestCase):
    VALUES = [
        None, True, False, 0, -1, 2**64 + 13, 2**127, 1.5, -0.0, float("inf"), float("-inf"), "", "ü𝄞", [], {}, [1, [2, (3, ())]],
        {"a": {"b": 1}}, {1: "a", (1, 2): [3]}, {"$": 1}, {"$": "tuple", "v": []}, b"", b"\x00\xff", bytearray(b"x"), {1, 2}, frozenset(["a"]),
        1 + 2j, decimal.Decimal("1.10"), decimal.Decimal("1E+500"),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6, datetime.timezone.utc), datetime.date(2026, 1, 2), datetime.time(3, 4), datetime.timedelta(-1, 2, 3),
    ]

    def test_values_come_back_as_they_were(self):
        for value in self.VALUES:
            with self.subTest(value=value):
                back = ostraka.decode(json.loads(json.dumps(ostraka.encode(value), allow_nan=False)))
                self.assertEqual(value, back)
                self.assertIs(type(value), type(back))
        self.assertTrue(math.isnan(ostraka.decode(ostraka.encode(math.nan))))

    def test_random_nests_come_back_as_they_were(self):
        rng = random.Random(7)

        def nest(depth):
            pick = rng.randrange(7 if depth else 4)
            if pick < 4:
                return rng.choice(self.VALUES[:13])
            if pick == 4:
                return [nest(depth - 1) for _ in range(rng.randrange(4))]
            if pick == 5:
                return tuple(nest(depth - 1) for _ in range(rng.randrange(4)))
            return {rng.choice(["a", "$", "v", 3]): nest(depth - 1) for _ in range(rng.randrange(4))}

        for _ in range(2000):
            value = nest(5)
            self.assertEqual(value, ostraka.decode(json.loads(json.dumps(ostraka.encode(value), allow_nan=False))))

    def test_equal_sets_are_equal_bytes(self):
        words = ["w%d" % i for i in range(50)]
        self.assertEqual(json.dumps(ostraka.encode(set(words))), json.dumps(ostraka.encode(set(reversed(words)))))

    def test_what_cannot_travel_is_refused_with_its_type(self):
        for value, words in [(object(), "builtins.object"), (lambda: 1, "function"), ("\0", "NUL"), ("\ud800", "surrogate"), ([{"a": {1: Point(1)}}], "Point")]:
            with self.subTest(value=value), self.assertRaisesRegex(TypeError, words):
                ostraka.encode(value)

    def test_depth_at_its_limit_and_past(self):
        def nested(depth):
            return functools.reduce(lambda v, _: [v], range(depth), 0)

        self.assertEqual(ostraka.MAX_DEPTH, 40)
        ostraka.encode(nested(40))
        with self.assertRaisesRegex(TypeError, "nested too deeply"):
            ostraka.encode(nested(41))

    def test_foreign_values_are_errors_and_nothing_else(self):
        rng = random.Random(11)
        tags = ["float", "dict", "tuple", "set", "frozenset", "bytes", "bytearray", "complex", "decimal", "datetime", "date", "time", "timedelta", "error", "x", 3, None, []]
        parts = [None, 1, "a", "!!", [], [[]], [1], [[1, 2]], {}, {"$": "set", "v": [[]]}, "nan", "9" * 50, [1e400], ["x", "y"]]
        for _ in range(5000):
            try:
                ostraka.decode({"$": rng.choice(tags), "v": rng.choice(parts)})
            except ValueError:
                pass


class Source(unittest.TestCase):
    def test_what_a_function_uses_goes_along(self):
        names = executed(ostraka.function(everything).source)
        self.assertEqual(everything(4), names["everything"](4))
        self.assertEqual(set(ostraka._source_of(everything).included), {"FACTOR", "TABLE", "ENDLESS", "Point", "helper", "isqrt", "math", "os", "json"})

    def test_recursion_and_decorators(self):
        decorated = ostraka.function(count_down)
        self.assertEqual(0, executed(decorated.source)["count_down"](5))

        @ostraka.function(timeout=5)
        def nested(x):
            return x + 1

        self.assertEqual(2, executed(nested.source)["nested"](1))
        self.assertNotIn("@", nested.source)

    def test_what_cannot_travel_is_refused_with_the_line(self):
        outside = 1

        def closure(x):
            return x + outside

        def generator(x):
            yield x

        async def coroutine(x):
            return x

        class Local:
            pass

        cases = [
            (lambda x: x, "is a lambda"), (closure, "closure over outside"), (generator, "yields"), (coroutine, "async"), (sets_global, "sets the global FACTOR .line 2: global FACTOR|sets the global FACTOR"),
            (uses_unittest_case, "uses CASE .line 2: return CASE, x.*no constant"), (uses_third_party, "surely_not_in_the_standard_library, which agents do not have"),
            (uses_nothing_known, "not_defined_anywhere, which is not defined .line 2"), (functools.partial(helper, 1), "not a function that was defined with def"), (len, "not a function"),
        ]
        for fn, words in cases:
            with self.subTest(words=words), self.assertRaisesRegex(ostraka.SourceError, words) as caught:
                ostraka._source_of(fn)
            self.assertTrue(caught.exception.next)
        self.assertIsNotNone(Local)

    def test_without_source_text(self):
        names = {}
        exec("def made(x):\n    return x\n", names)
        with self.assertRaisesRegex(ostraka.SourceError, "source text is not to be had"):
            ostraka._source_of(names["made"])

    def test_constants_are_written_so_that_they_come_back(self):
        for value in [0, -1.5, 1e300, math.inf, "a'\"\n", b"\x00", (), (1,), [1, [2]], {"a": {1, 2}}, frozenset([3]), None, {}, set()]:
            with self.subTest(value=value):
                self.assertEqual(value, eval(ostraka._constant(value)))
        self.assertIsNone(ostraka._constant([object()]))


class Inputs(unittest.TestCase):
    def test_ranges_are_counted_beyond_the_machine_word(self):
        for r in [range(10), range(3, 10, 3), range(10, 0, -3), range(10, 1, -3), range(5, 6)]:
            self.assertEqual(len(r), ostraka._Range(r).count)
        self.assertEqual(2**70 // 3 + 1, ostraka._Range(range(0, 2**70, 3)).count)
        with self.assertRaisesRegex(ValueError, "empty"):
            ostraka._Range(range(3, 3))

    def test_chunks_hold_every_item_once_and_fit_a_record(self):
        rng = random.Random(3)
        for chunk in (1, 7, 1000):
            items = ["x" * rng.randrange(3000) for _ in range(500)]
            records = [json.loads(r) for r in ostraka._Items([])._records(iter(items), chunk)]
            self.assertEqual(items, [i for r in records for i in r["items"]])
            first = 0
            for r in records:
                self.assertEqual(first, r["first"])
                self.assertLessEqual(len(r["items"]), chunk)
                self.assertLess(len(json.dumps(r)), 64 * 1024)
                first += len(r["items"])

    def test_an_item_at_its_limit_and_past(self):
        fits = "x" * (ostraka.MAX_RECORD_BYTES - 2)
        self.assertEqual(1, len(list(ostraka._Items([])._records(iter([fits]), 1))))
        with self.assertRaisesRegex(ostraka.ValueEncodingError, "item 1 has 61441 bytes"):
            list(ostraka._Items([])._records(iter(["", fits + "x"]), 1))


class Files(unittest.TestCase):
    def test_the_runner_takes_the_shards_of_any_job(self):
        """Also of one that ostraka job run cuts otherwise than .map did."""
        for run, shard, want in (
            ({"star": False, "start": "5", "step": "-2"}, {"from": "0", "to": "2"}, [(0, (5,)), (1, (3,))]),
            ({"star": False}, {"from": "3", "to": "5"}, [(3, (3,)), (4, (4,))]),
            ({"star": False, "start": "5", "step": "-2"}, {"items": [7], "first": 1}, [(1, (7,))]),
            ({"star": True}, {"items": [[1, 2]], "first": 0}, [(0, (1, 2))]),
        ):
            source = ostraka._RUNNER.format(name="function")
            part = source[source.index("def inputs") : source.index("def described")]
            names = {"RUN": run, "decode": ostraka.decode}
            exec(part, names)
            self.assertEqual(list(names["inputs"](shard)), want)

    def test_equal_files_are_equal_bundles(self):
        files = {"b": b"2", "a": b"1"}
        self.assertEqual(ostraka._bundle(files), ostraka._bundle(dict(sorted(files.items()))))

    def test_names(self):
        for given, name in [("count_primes", "count-primes"), ("_x", "x"), ("Ünï", "n"), ("9", "f-9"), ("a" * 80, "a" * 63)]:
            self.assertEqual(name, ostraka._function_name(given))

    def test_options_are_checked(self):
        for options in [{"chunk": 0}, {"chunk": ostraka.MAX_CHUNK + 1}, {"memory": "lots"}]:
            with self.subTest(options=options), self.assertRaises(ValueError):
                ostraka.function(helper, **options)
        ostraka.function(helper, chunk=ostraka.MAX_CHUNK)
        with self.assertRaisesRegex(ValueError, "chunk = 0"):  # also where it is said with the call, before anything is sent
            ostraka.function(helper, chunk=5, client=ostraka.Client("http://127.0.0.1:1", "k", "p")).map([1, 2], chunk=0)
        for n in (0, -1, ostraka.MAX_QUORUM + 1):
            with self.subTest(quorum=n), self.assertRaisesRegex(ValueError, "from 1 to 16"):
                ostraka.quorum(n)
        self.assertEqual({"quorum": ostraka.MAX_QUORUM}, ostraka.quorum(ostraka.MAX_QUORUM))

    def test_a_time_limit_is_named_as_it_is_here(self):
        self.assertIn("timeout= of @ostraka.function", ostraka._mend("still running after 5 s: raise limits.wall_seconds, or use smaller shards"))
        self.assertIn("mend the function", ostraka._mend("ValueError"))


class Waiting(unittest.TestCase):
    def test_ctrl_c_says_how_to_go_on_and_to_stop_it(self):
        job = ostraka.Job(ostraka.Client("https://example.org", "k", "p"), {"id": "J", "state": "running"})
        told = io.StringIO()
        frames = []
        with unittest.mock.patch.object(job, "refresh", side_effect=KeyboardInterrupt), unittest.mock.patch("sys.stderr", told):
            try:
                job.wait(bar=False)
            except KeyboardInterrupt as stop:
                frames = traceback.extract_tb(stop.__traceback__)
                self.assertTrue(stop.__suppress_context__)
        self.assertIn("ostraka.job('J').cancel()", told.getvalue())
        self.assertEqual("wait", frames[-1].name, "not what waited within it")


class Connection(unittest.TestCase):
    def test_a_key_does_not_cross_the_network_in_the_clear(self):
        with self.assertRaisesRegex(ostraka.ConfigurationError, "in the clear"):
            ostraka.Client("http://example.org", "k", "p")
        for url in ("http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://example.org"):
            ostraka.Client(url, "k", "p")
        self.assertNotIn("secret", repr(ostraka.Client("https://example.org", "secret", "p")))

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(ostraka.ConfigurationError, "OSTRAKA_KEY"):
            with unittest.mock.patch.dict(os.environ, {"OSTRAKA_KEY": ""}):
                ostraka.Client("https://example.org", None, "p")
        with self.assertRaisesRegex(ostraka.ConfigurationError, "not the address"):
            ostraka.Client("example.org", "k", "p")


if __name__ == "__main__":
    unittest.main()
