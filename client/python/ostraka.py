"""Ostraka from Python: run a function over many inputs on machines that nobody has to trust.

One file, the standard library only, Python 3.9 or later.

    import ostraka

    @ostraka.function()
    def collatz(n):
        steps = 0
        while n != 1:
            n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
        return steps

    collatz.local(27)                        # here, as plain Python
    collatz.remote(27)                       # one call: waits for its verified answer
    job = collatz.map(range(1, 100_001))     # many: returns at once
    job.result()                             # the results, in the order of the inputs
    job.reduce("max")                        # folded by the server

Server, key and project come from OSTRAKA_URL, OSTRAKA_KEY and OSTRAKA_PROJECT, or from
Client(...). A function travels as source text and nothing is ever unpickled: results are JSON.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import concurrent.futures
import dataclasses
import functools
import gzip
import hashlib
import html
import importlib.util
import inspect
import io
import ipaddress
import itertools
import json
import os
import re
import symtable
import sys
import sysconfig
import tarfile
import tempfile
import textwrap
import threading
import time
import types
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, Generic, IO, Iterable, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, TypeVar, Union, cast

__version__ = "1"

__all__ = [
    "Client", "Function", "Job", "Progress", "Executor", "function", "job", "configure", "encode", "decode", "quorum", "target_error", "exact", "confirm",
    "OstrakaError", "ConfigurationError", "ProblemError", "SourceError", "ValueEncodingError", "RemoteError", "Disagreement", "Blocked",
    "Unverified", "Cancelled", "ItemError",
]

TARGET_SHARD_SECONDS = 2.0  #: how long a shard should take where chunks are chosen: long beside a fork, short beside a time limit
MAX_CHUNK = 100_000  #: inputs in a shard at most
MAX_QUORUM = 16  #: agents that must give the same answer, at most
MIN_SHARDS = 32  #: a job is not cut into fewer shards than this for the sake of longer ones, so that several agents share it
MAX_RECORD_BYTES = 60 * 1024  #: one shard's input as JSON; the server takes 64 KiB
MAX_INLINE_BYTES = 2 << 20  #: inputs within the request itself; more are stored as an object first
MAX_INLINE_SHARDS = 5_000  #: the same, as a count
TARGET_OUTPUT_BYTES = 256 << 10  #: results of a shard as JSON, where chunks are chosen; the server folds up to 1 MiB
CALIBRATION_SECONDS = 60  #: how long the first input may take before one input makes a shard
CALL_SECONDS = 30  #: how long remote waits on one connection; after that it follows the job
MAX_ANSWER_BYTES = 256 << 20  #: an answer of the server that is held in memory
MAX_DEPTH = 40  #: lists and dicts nested in a value; encoded they nest deeper, and the server takes 64
ENDED = frozenset(["finished", "failed", "cancelled", "deleting"])  #: states that a job never leaves
STUCK = frozenset(["review", "held"])  #: states that a job leaves only when a person does something


# ---- errors

class OstrakaError(Exception):
    """What is wrong; `next` says what to do about it."""

    def __init__(self, message: str, next: str = "") -> None:
        super().__init__(message + (f"\n  next: {next}" if next else ""))
        self.message, self.next = message, next


class ConfigurationError(OstrakaError):
    """Server, key or project are missing or unusable."""


class SourceError(OstrakaError):
    """A function cannot travel as source text. Nothing was sent."""


class ValueEncodingError(OstrakaError, TypeError):
    """A value cannot travel."""


class ProblemError(OstrakaError):
    """The server refused a request. Branch on `code`, which is stable."""

    def __init__(self, status: int, code: str, detail: str, hint: str, request_id: str, headers: Any = None) -> None:
        super().__init__(f"{detail} ({code})", hint)
        self.status, self.code, self.request_id, self._headers = status, code, request_id, headers or {}


class RemoteError(OstrakaError):
    """The function failed on the machines that ran it; the remote traceback is the cause."""


class Disagreement(OstrakaError):
    """Machines gave different answers and a person has to decide."""


class Blocked(OstrakaError):
    """The job is held, or was ended by a switch or a refusal."""


class Unverified(OstrakaError):
    """There is an answer, and it does not cover every input."""


class Cancelled(OstrakaError, concurrent.futures.CancelledError):
    """The job was cancelled."""


class ItemError(OstrakaError):
    """One input's exception, as it stands among the results with return_exceptions=True."""

    def __init__(self, type: str, message: str, where: str) -> None:
        super().__init__(f"{type}: {message}" + (f" ({where})" if where else ""))
        self.type, self.where = type, where


class _RemoteTraceback(Exception):
    def __str__(self) -> str:
        return "\n" + str(self.args[0])


# ---- requests and answers

_T = TypeVar("_T")


class _Request(Generic[_T]):
    """A request of an operation, whose answer is a _T."""

    def __init__(self, method: str, path: str, **query: Any) -> None:
        given = {k: v for k, v in query.items() if v is not None}
        self.method, self.path = method, path + ("?" + urllib.parse.urlencode(given) if given else "")


def _quoted(part: str) -> str:
    return urllib.parse.quote(part, safe="")


# ---- generated from openapi.yaml by client/python/generate: change nothing by hand

_FunctionVersionAlways = TypedDict("_FunctionVersionAlways", {"created_at": "str", "digest": "str", "manifest": "_Manifest", "name": "str", "size": "int", "version": "int"})


class _FunctionVersion(_FunctionVersionAlways, total=False):
    signature: "str"
    signed_by: "int"


_JobDataAlways = TypedDict("_JobDataAlways", {"attempts": "int", "created_at": "str", "created_by": "str", "depth": "int", "event_seq": "int", "function": "str", "id": "str",
    "partition": "_Partition", "policy": "_Policy", "priority": "int", "root": "str", "run": "int", "shards": "_ShardCounts",
    "state": "Literal['splitting', 'running', 'review', 'held', 'aggregating', 'finished', 'failed', 'cancelled', 'deleting']", "version": "int"})


class _JobData(_JobDataAlways, total=False):
    aggregate: "_Aggregate"
    aggregation_error: "str"
    aggregator: "_AggregatorRef"
    approval: "_JobApproval"
    archive: "_JobArchive"
    conditions: "_Conditions"
    controls: "_JobControls"
    error: "str"
    finished_at: "str"
    heuristics: "List[_HeuristicRef]"
    owners: "_OwnerShares"
    parent: "str"
    parent_deleted: "bool"
    rerun_of: "str"
    rerun_of_deleted: "bool"
    started_at: "str"
    validator: "_ValidatorRef"
    verification: "_JobVerification"
    warnings: "List[_Reason]"


_CallAlways = TypedDict("_CallAlways", {"executions": "int", "function": "str", "job": "str", "policy": "_Policy",
    "state": "Literal['splitting', 'running', 'review', 'held', 'aggregating', 'finished', 'failed', 'cancelled', 'deleting']", "version": "int"})


class _Call(_CallAlways, total=False):
    bound: "float"
    output: "Any"
    output_object: "str"


_Object = TypedDict("_Object", {"digest": "str", "size": "int"})


_ShardListAlways = TypedDict("_ShardListAlways", {"items": "List[_Shard]"})


class _ShardList(_ShardListAlways, total=False):
    next_cursor: "str"


_ShardDetailAlways = TypedDict("_ShardDetailAlways", {"attempts": "List[_Attempt]", "input": "Any", "lent": "int", "lost": "int", "number": "int",
    "state": "Literal['open', 'accepted', 'review', 'failed', 'cancelled']", "wanted": "int"})


class _ShardDetail(_ShardDetailAlways, total=False):
    reasons: "List[_VerdictReason]"


_ExplanationAlways = TypedDict("_ExplanationAlways", {"reasons": "List[_Reason]",
    "state": "Literal['splitting', 'running', 'review', 'held', 'aggregating', 'finished', 'failed', 'cancelled', 'deleting']", "summary": "str"})


class _Explanation(_ExplanationAlways, total=False):
    turn: "_JobTurn"


_ManifestAlways = TypedDict("_ManifestAlways", {"limits": "_Limits", "min_isolation": "str", "name": "str", "network": "str", "runtime": "str", "verification": "_Verification"})


class _Manifest(_ManifestAlways, total=False):
    aggregator: "_Aggregator"
    description: "str"
    entry: "str"
    entrypoint: "str"
    heuristics: "List[_ResultHeuristic]"
    monitor: "_Thresholds"
    output: "_Output"
    per: "str"
    script: "str"
    volumes: "List[_Volume]"
    warm: "int"


_AggregateAlways = TypedDict("_AggregateAlways", {"count": "int", "value": "Any"})


class _Aggregate(_AggregateAlways, total=False):
    left_out: "int"
    object: "str"
    preview: "_Preview"
    rows: "Any"
    rows_object: "str"
    summary: "str"


_AggregatorRefAlways = TypedDict("_AggregatorRefAlways", {"digest": "str", "module": "str"})


class _AggregatorRef(_AggregatorRefAlways, total=False):
    params: "Any"


_JobApproval = TypedDict("_JobApproval", {"expires_at": "str", "id": "str", "layer": "Literal['builtin', 'operator', 'project']", "reason": "str", "rule": "str"})


_JobArchiveAlways = TypedDict("_JobArchiveAlways", {"asked_at": "str", "asked_by": "str", "job": "str", "shards": "int", "state": "Literal['writing', 'failed', 'removing', 'archived']"})


class _JobArchive(_JobArchiveAlways, total=False):
    archived_at: "str"
    document: "_ArchivedFile"
    error: "str"
    imported_from: "str"
    results: "_ArchivedFile"
    written_at: "str"


_ConditionsAlways = TypedDict("_ConditionsAlways", {})


class _Conditions(_ConditionsAlways, total=False):
    cpu_seconds: "int"
    isolation: "str"
    memory_bytes: "int"
    owners: "List[str]"
    pids: "int"
    quorum: "int"
    recheck_all: "bool"
    shards: "int"
    target_error: "float"
    valid_until: "str"
    wall_seconds: "int"


_JobControls = TypedDict("_JobControls", {"answers": "int", "given": "int", "right": "int", "total": "int", "unsettled": "int", "void": "int", "wrong": "int"})


_HeuristicRefAlways = TypedDict("_HeuristicRefAlways", {"digest": "str", "module": "str", "rules": "List[_HeuristicRule]"})


class _HeuristicRef(_HeuristicRefAlways, total=False):
    params: "Any"


_OwnerSharesAlways = TypedDict("_OwnerSharesAlways", {"above": "bool", "largest": "List[_OwnerShare]", "owners": "int", "results": "int", "stated": "float"})


class _OwnerShares(_OwnerSharesAlways, total=False):
    error_bound: "float"


_Partition = TypedDict("_Partition", {"kind": "Literal['range', 'items', 'grid', 'lines', 'objects']", "axes": "List[_Axis]", "bytes": "str", "from": "str", "job": "str",
    "lines": "str", "manifest": "str", "object": "str", "per_shard": "str", "prefix": "str", "size": "str", "to": "str", "values": "List[Any]"}, total=False)


_PolicyAlways = TypedDict("_PolicyAlways", {})


class _Policy(_PolicyAlways, total=False):
    answer_error: "float"
    assume_hostile: "float"
    confirm: "str"
    max_attempts: "int"
    none: "bool"
    quorum: "int"
    recheck: "str"
    target_error: "float"


_ShardCounts = TypedDict("_ShardCounts", {"accepted": "int", "cancelled": "int", "failed": "int", "open": "int", "provisional": "int", "review": "int", "total": "int"})


_ValidatorRefAlways = TypedDict("_ValidatorRefAlways", {"digest": "str", "module": "str"})


class _ValidatorRef(_ValidatorRefAlways, total=False):
    certificate: "bool"
    params: "Any"


_JobVerificationAlways = TypedDict("_JobVerificationAlways", {"answer_risk": "float", "assume_hostile": "float", "audits_drawn": "int", "audits_failed": "int", "audits_passed": "int",
    "audits_pending": "int", "audits_void": "int", "error_bound": "float", "executions_per_shard": "float", "incidents": "int",
    "questionable": "int", "rechecks": "int", "reopened": "int"})


class _JobVerification(_JobVerificationAlways, total=False):
    caveat: "str"
    confirm: "_JobConfirmation"


_ReasonAlways = TypedDict("_ReasonAlways", {"code": "str", "text": "str"})


class _Reason(_ReasonAlways, total=False):
    hint: "str"


_ShardAlways = TypedDict("_ShardAlways", {"input": "Any", "lent": "int", "lost": "int", "number": "int", "state": "Literal['open', 'accepted', 'review', 'failed', 'cancelled']",
    "wanted": "int"})


class _Shard(_ShardAlways, total=False):
    reasons: "List[_VerdictReason]"


_AttemptAlways = TypedDict("_AttemptAlways", {"accepted": "bool", "agent": "str", "cpu_us": "int", "output_bytes": "int", "peak_rss_bytes": "int", "reported_at": "str", "status": "str",
    "wall_us": "int"})


class _Attempt(_AttemptAlways, total=False):
    confirm_error: "str"
    diagnostics: "Any"
    matters: "bool"
    output: "Any"
    output_digest: "str"


_VerdictReason = TypedDict("_VerdictReason", {"code": "str", "text": "str"})


_JobTurn = TypedDict("_JobTurn", {"before": "int", "job_share": "float", "priority": "int", "project_share": "float", "project_weight": "int"})


_AggregatorAlways = TypedDict("_AggregatorAlways", {"module": "str"})


class _Aggregator(_AggregatorAlways, total=False):
    params: "Any"


_ResultHeuristicAlways = TypedDict("_ResultHeuristicAlways", {"module": "str", "rules": "List[_ResultRule]"})


class _ResultHeuristic(_ResultHeuristicAlways, total=False):
    params: "Any"


_LimitsAlways = TypedDict("_LimitsAlways", {"artifact_bytes": "int", "cpu_seconds": "int", "disk_bytes": "int", "files": "int", "inodes": "int", "memory_bytes": "int",
    "open_files": "int", "output_bytes": "int", "pids": "int", "stderr_bytes": "int", "stdout_bytes": "int", "wall_seconds": "int"})


class _Limits(_LimitsAlways, total=False):
    fuel: "int"


_ThresholdsAlways = TypedDict("_ThresholdsAlways", {})


class _Thresholds(_ThresholdsAlways, total=False):
    cpu: "_ThresholdPair"
    memory: "_ThresholdPair"
    network: "_ThresholdPair"
    output: "_ThresholdPair"
    processes: "_ThresholdPair"
    samples: "int"
    workspace: "_ThresholdPair"


_OutputAlways = TypedDict("_OutputAlways", {})


class _Output(_OutputAlways, total=False):
    schema: "Any"


_VerificationAlways = TypedDict("_VerificationAlways", {})


class _Verification(_VerificationAlways, total=False):
    answer_error: "float"
    assume_hostile: "float"
    confirm: "str"
    max_attempts: "int"
    none: "bool"
    quorum: "int"
    recheck: "str"
    target_error: "float"
    validator: "_Validator"


_VolumeAlways = TypedDict("_VolumeAlways", {"mode": "str", "name": "str"})


class _Volume(_VolumeAlways, total=False):
    fingerprint: "str"


_Preview = TypedDict("_Preview", {"at": "str", "count": "int", "share": "float", "value": "Any"})


_ArchivedFile = TypedDict("_ArchivedFile", {"bytes": "int", "digest": "str"})


_HeuristicRule = TypedDict("_HeuristicRule", {"at": "float", "do": "Literal['flag', 'raise', 'recheck', 'review']"})


_OwnerShare = TypedDict("_OwnerShare", {"agents": "int", "owner": "str", "results": "int", "share": "float"})


_Axis = TypedDict("_Axis", {"name": "str", "values": "List[Any]"})


_JobConfirmation = TypedDict("_JobConfirmation", {"confirmed": "int", "matched": "int", "refuted": "int", "unjudged": "int"})


_ResultRule = TypedDict("_ResultRule", {"at": "float", "do": "str"})


_ThresholdPairAlways = TypedDict("_ThresholdPairAlways", {})


class _ThresholdPair(_ThresholdPairAlways, total=False):
    critical: "str"
    warning: "str"


_ValidatorAlways = TypedDict("_ValidatorAlways", {"module": "str"})


class _Validator(_ValidatorAlways, total=False):
    certificate: "bool"
    params: "Any"



def _push_function(project: str, *, repack: Any = None) -> _Request["_FunctionVersion"]:
    "Push a function"
    return _Request("POST", f"/v1/projects/{_quoted(project)}/functions", repack=repack)


def _submit_job(project: str) -> _Request["_JobData"]:
    "Run a function over a partitioned input"
    return _Request("POST", f"/v1/projects/{_quoted(project)}/jobs")


def _get_job(project: str, job: str, *, wait: Any = None) -> _Request["_JobData"]:
    "Get a job, or wait for it"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}", wait=wait)


def _call_function(project: str, name: str, *, wait: Any = None) -> _Request["_Call"]:
    "Call a function once"
    return _Request("POST", f"/v1/projects/{_quoted(project)}/functions/{_quoted(name)}/call", wait=wait)


def _put_object(project: str, *, digest: Any = None) -> _Request["_Object"]:
    "Store an object"
    return _Request("POST", f"/v1/projects/{_quoted(project)}/objects", digest=digest)


def _get_object(project: str, digest: str) -> _Request["bytes"]:
    "Read a stored object"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/objects/{_quoted(digest)}")


def _list_shards(project: str, job: str, *, cursor: Any = None, limit: Any = None, state: Any = None) -> _Request["_ShardList"]:
    "List the shards of a job"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}/shards", cursor=cursor, limit=limit, state=state)


def _get_shard(project: str, job: str, number: str) -> _Request["_ShardDetail"]:
    "Get a shard with its attempts"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}/shards/{_quoted(number)}")


def _cancel_job(project: str, job: str) -> _Request["_JobData"]:
    "Cancel a job"
    return _Request("POST", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}/cancel")


def _explain_job(project: str, job: str) -> _Request["_Explanation"]:
    "Say why a job is not done"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}/explain")


def _stream_results(project: str, job: str, *, after: Any = None, final: Any = None, input: Any = None) -> _Request["bytes"]:
    "Stream the accepted results"
    return _Request("GET", f"/v1/projects/{_quoted(project)}/jobs/{_quoted(job)}/results", after=after, final=final, input=input)

# ---- end of what is generated


# ---- values: what JSON holds travels as it is; other types as {"$": type, "v": ...}
#
# encode and decode go to the agents as source text: they use builtins and what they import themselves.

def encode(value: "Any", depth: "int" = 40) -> "Any":
    """Makes JSON of a value: what JSON holds, bytes, tuple, set, complex, Decimal, datetime, date, time, timedelta, numpy arrays.

    Equal values give equal JSON. Raises TypeError that names the type of what cannot travel."""
    import math

    if depth < 0:
        raise TypeError("a value is nested too deeply: 40 lists and dicts are allowed")
    kind = type(value)
    if value is None or kind in (bool, int):
        return value
    if kind is str:
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise TypeError("a string with a NUL or half a surrogate pair cannot travel: send bytes")
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
    if kind is list:
        return [encode(v, depth - 1) for v in value]
    if kind is dict:
        if all(type(k) is str for k in value) and "$" not in value:
            return {encode(k): encode(v, depth - 1) for k, v in value.items()}
        return {"$": "dict", "v": [[encode(k, depth - 2), encode(v, depth - 2)] for k, v in value.items()]}
    if kind is tuple:
        return {"$": "tuple", "v": [encode(v, depth - 1) for v in value]}
    if kind in (set, frozenset):
        import json

        members = [encode(v, depth - 1) for v in value]
        return {"$": kind.__name__, "v": sorted(members, key=lambda m: json.dumps(m, sort_keys=True))}
    if kind in (bytes, bytearray):
        import base64

        return {"$": kind.__name__, "v": base64.b64encode(value).decode()}
    if kind is complex:
        return {"$": "complex", "v": [repr(value.real), repr(value.imag)]}
    import datetime
    import decimal

    if kind is decimal.Decimal:
        return {"$": "decimal", "v": str(value)}
    if kind in (datetime.datetime, datetime.date, datetime.time):
        return {"$": kind.__name__, "v": value.isoformat()}
    if kind is datetime.timedelta:
        return {"$": "timedelta", "v": [value.days, value.seconds, value.microseconds]}
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype.kind in "biufc":
        import base64

        order = value.dtype.newbyteorder("<")
        return {"$": "ndarray", "dtype": order.str, "shape": list(value.shape), "v": base64.b64encode(value.astype(order).tobytes()).decode()}
    if kind.__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "__len__"):
        return encode(value.item(), depth)
    raise TypeError("a value of type %s.%s cannot travel: return what JSON holds, or bytes" % (kind.__module__, kind.__qualname__))


def decode(value: "Any") -> "Any":
    """Makes the value again of what encode made of it. Raises ValueError for what encode never makes."""
    kind = type(value)
    if kind is list:
        return [decode(v) for v in value]
    if kind is not dict:
        return value
    tag = value.get("$")
    if tag is None:
        return {k: decode(v) for k, v in value.items()}
    v = value.get("v")
    try:
        if tag == "float" and v in ("nan", "inf", "-inf"):
            return float(v)
        if tag == "dict":
            return {decode(k): decode(x) for k, x in v}
        if tag in ("tuple", "set", "frozenset"):
            return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](decode(x) for x in v)
        if tag in ("bytes", "bytearray"):
            import base64

            raw = base64.b64decode(v, validate=True)
            return raw if tag == "bytes" else bytearray(raw)
        if tag == "complex":
            return complex(float(v[0]), float(v[1]))
        if tag == "decimal":
            import decimal

            return decimal.Decimal(v)
        if tag in ("datetime", "date", "time"):
            import datetime

            return getattr(datetime, tag).fromisoformat(v)
        if tag == "timedelta":
            import datetime

            return datetime.timedelta(v[0], v[1], v[2])
        if tag == "ndarray":
            import base64

            import numpy

            return numpy.frombuffer(base64.b64decode(v, validate=True), dtype=numpy.dtype(value["dtype"])).reshape(value["shape"]).copy()
    except ImportError:
        raise
    except Exception as error:
        raise ValueError("a value of type %r is damaged: %s" % (tag, error)) from None
    raise ValueError("a value has the unknown type %r" % (tag,))


# ---- source: what a function needs to run elsewhere, as text

_RUNNER = '''"""Runs the function over the inputs of a shard. Made by ostraka.py."""
import json
import math
import os
import sys

from user_code import {name} as function
from values import decode, encode

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.json"), encoding="utf-8") as f:
    RUN = json.load(f)
KWARGS = decode(RUN["kwargs"])


def inputs(shard):
    """Yields the number and the arguments of each input."""
    if "from" in shard:  # of the range that .map was given, or of one that ostraka job run was
        start, step = int(RUN.get("start", 0)), int(RUN.get("step", 1))
        for i in range(int(shard["from"]), int(shard["to"])):
            yield i, (start + i * step,)
        return
    for i, item in enumerate(shard["items"], shard["first"]):
        value = decode(item)
        yield i, tuple(value) if RUN["star"] else (value,)


def described(error):
    """Says what went wrong in words that are the same on every machine: no folder, no address."""
    where, at = "", error.__traceback__
    while at is not None:
        if os.path.basename(at.tb_frame.f_code.co_filename) == "user_code.py":
            where = "line %d in %s" % (at.tb_lineno, at.tb_frame.f_code.co_name)
        at = at.tb_next
    return {{"$": "error", "type": type(error).__name__, "message": str(error)[:1000], "where": where}}


def handler(shard):
    results, numbers = [], True
    for i, args in inputs(shard):
        try:
            value = function(*args, **KWARGS)
            results.append(encode(value))
        except Exception as error:
            if not RUN["return_exceptions"]:
                if hasattr(error, "add_note"):
                    error.add_note("input %d: %.200r" % (i, args))
                raise
            value = None
            results.append(described(error))
        numbers = numbers and type(value) in (int, float, bool) and (type(value) is not float or math.isfinite(value))
    output = {{"r": results}}
    if numbers and results:
        exact = all(type(v) is not float for v in results)
        output.update(n=len(results), sum=sum(results) if exact else math.fsum(results), min=min(results), max=max(results))
    return output
'''


@dataclasses.dataclass(frozen=True)
class _Source:
    name: str
    text: str
    included: Tuple[str, ...]


def _where(fn: Callable[..., Any]) -> str:
    code = getattr(fn, "__code__", None)
    return f"{getattr(fn, '__qualname__', fn)!s}" + (f", {code.co_filename} line {code.co_firstlineno}" if code else "")


def _definition(obj: Any, what: str) -> Tuple[str, ast.AST]:
    """The text of a function or class without decorators and indentation, and its syntax tree."""
    try:
        text = textwrap.dedent(inspect.getsource(obj))
    except (OSError, TypeError):
        raise SourceError(f"{what}: its source text is not to be had", "define it in a file or a notebook cell, not at a bare prompt or with exec") from None
    try:
        tree = ast.parse(text).body[0]
    except SyntaxError as e:
        raise SourceError(f"{what}: its source does not stand by itself ({e.msg}, line {e.lineno})", "define it with def, on lines of its own") from None
    if not isinstance(tree, (ast.FunctionDef, ast.ClassDef)):
        raise SourceError(f"{what}: is not defined with def or class", "an async function or a lambda cannot travel: write def")
    lines = text.splitlines()[tree.lineno - 1:]  # lineno is that of def, behind the decorators
    text = "\n".join(lines) + "\n"
    return text, ast.parse(text).body[0]


class _Plain(ast.NodeTransformer):
    """Takes annotations out: nothing evaluates them where the function runs."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def _free_names(text: str) -> Tuple[List[str], List[str]]:
    """The global names that a definition reads, and those that it sets by `global`."""
    tree = ast.fix_missing_locations(_Plain().visit(ast.parse(text)))
    top = symtable.symtable(ast.unparse(tree), "<function>", "exec")
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    read, written, tables = [], [], [top]
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        for s in table.get_symbols():
            if table is not top and s.is_declared_global() and s.is_assigned():
                written.append(s.get_name())
            if s.is_referenced() and (table is top or s.is_global()) and s.get_name() not in defined and s.get_name() not in read:
                read.append(s.get_name())
    return sorted(read), sorted(written)


def _line_of(text: str, name: str) -> str:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == name:
            return f"line {node.lineno}: {text.splitlines()[node.lineno - 1].strip()}"
    return "its definition"


def _is_standard(module: str) -> bool:
    top = module.partition(".")[0]
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return top in names
    if top in sys.builtin_module_names:
        return True
    spec = importlib.util.find_spec(top)
    return bool(spec and spec.origin and "site-packages" not in spec.origin and spec.origin.startswith(sysconfig.get_paths()["stdlib"]))


_CONSTANTS = (type(None), bool, int, float, complex, str, bytes)


def _constant(value: Any) -> Optional[str]:
    """Python text for a constant, or None where the value is none."""
    kind = type(value)
    if kind is float and value != value or kind in (float, complex) and "inf" in repr(value):
        return f"float({str(value)!r})" if kind is float else None
    if kind in _CONSTANTS:
        return repr(value)
    if kind in (list, tuple, set, frozenset):
        parts = [_constant(v) for v in value]
        if any(p is None for p in parts):
            return None
        if kind in (set, frozenset):
            return f"{kind.__name__}([{', '.join(sorted(p or '' for p in parts))}])"
        inner = ", ".join(p or "" for p in parts)
        return f"[{inner}]" if kind is list else f"({inner}{',' if len(parts) == 1 else ''})"
    if kind is dict:
        pairs = [(_constant(k), _constant(v)) for k, v in value.items()]
        if any(k is None or v is None for k, v in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    return None


class _Collector:
    """Follows the names that a function uses, and writes down what they stand for."""

    def __init__(self) -> None:
        self.imports: List[str] = []
        self.constants: List[str] = []
        self.definitions: Dict[str, str] = {}
        self.seen: Dict[str, Any] = {}

    def function(self, fn: Callable[..., Any], user: str) -> None:
        what = f"{user} ({_where(fn)})"
        if fn.__name__ == "<lambda>":
            raise SourceError(f"{what}: is a lambda", "write def name(x): return …")
        if fn.__code__.co_freevars:
            names = ", ".join(fn.__code__.co_freevars)
            raise SourceError(f"{what}: is a closure over {names}", f"pass {names} as an argument, or make it a constant of the module")
        text, tree = _definition(fn, what)
        if isinstance(tree, ast.FunctionDef) and tree.name != fn.__name__:
            raise SourceError(f"{what}: was renamed from {tree.name}", "give the function itself, not what a decorator made of it")
        self.names(text, fn.__globals__, what)
        self.definitions[fn.__name__] = text

    def names(self, text: str, known: Mapping[str, Any], what: str) -> None:
        read, written = _free_names(text)
        if written:
            raise SourceError(f"{what}: sets the global {written[0]} ({_line_of(text, written[0])})", "return the value instead: each shard runs in a process of its own")
        for name in read:
            if name in known:
                self.name(name, known[name], f"{what}: uses {name} ({_line_of(text, name)})")
            elif not hasattr(builtins, name):
                raise SourceError(f"{what}: uses {name}, which is not defined ({_line_of(text, name)})", f"define {name} in the same module, or import it inside the function")

    def name(self, name: str, value: Any, what: str) -> None:
        if name in self.seen:
            if self.seen[name] is not value:
                raise SourceError(f"{what}: {name} means two different things in the modules that are used", "rename one of them")
            return
        self.seen[name] = value
        if isinstance(value, Function):
            value = value.function
        if isinstance(value, types.ModuleType):
            self.module(name, value.__name__, what)
        elif isinstance(value, types.FunctionType) and not _is_standard(value.__module__ or "?"):
            if name != value.__name__:
                raise SourceError(f"{what}: {name} is another name of {value.__name__}", f"call {value.__name__} by its own name")
            self.function(value, what)
        elif isinstance(value, type) and not _is_standard(value.__module__ or "?"):
            self.type(name, value, what)
        elif callable(value) and _is_standard(getattr(value, "__module__", None) or "?") and hasattr(value, "__name__"):
            self.imports.append(f"from {value.__module__} import {value.__name__} as {name}")
        else:
            text = _constant(value)
            if text is None:
                raise SourceError(f"{what}, a global of type {type(value).__module__}.{type(value).__qualname__}, which is no constant",
                                  "pass it as an argument, make it inside the function, or push a folder with `ostraka function push`")
            self.constants.append(f"{name} = {text}")

    def module(self, name: str, module: str, what: str) -> None:
        if not _is_standard(module):
            raise SourceError(f"{what}, the module {module}, which agents do not have", "agents carry Python's standard library: push a folder with the package inside, or do without it")
        self.imports.append(f"import {module} as {name}" if "." in module or name != module else f"import {module}")

    def type(self, name: str, value: type, what: str) -> None:
        if "<locals>" in value.__qualname__:
            raise SourceError(f"{what}, a class that is defined inside a function", "define the class at the top of the module")
        text, tree = _definition(value, what)
        if isinstance(tree, ast.ClassDef) and (inspect.getsource(value).lstrip().startswith("@")):
            raise SourceError(f"{what}, a class with a decorator, which does not travel", "write the class out, or push a folder with `ostraka function push`")
        self.names(text, vars(sys.modules[value.__module__]), what)
        self.definitions[name] = text


def _source_of(fn: Callable[..., Any]) -> _Source:
    """The function and all that it uses, as the text of one module."""
    if not isinstance(fn, types.FunctionType):
        raise SourceError(f"{fn!r} is not a function that was defined with def", "wrap it: def name(x): return …")
    if inspect.iscoroutinefunction(fn) or inspect.isgeneratorfunction(fn):
        raise SourceError(f"{_where(fn)}: is async, or yields", "write a plain function that returns its result")
    collector = _Collector()
    collector.seen[fn.__name__] = fn
    collector.function(fn, fn.__name__)
    parts = ["from __future__ import annotations\n"]
    parts += ["\n".join(sorted(set(collector.imports)))] if collector.imports else []
    parts += ["\n".join(collector.constants)] if collector.constants else []
    parts += list(collector.definitions.values())
    included = tuple(n for n in collector.seen if n != fn.__name__)
    return _Source(fn.__name__, "\n\n".join(p.rstrip("\n") for p in parts) + "\n", included)


def _function_name(name: str) -> str:
    name = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63].strip("-")
    return name if name[:1].isalpha() else "f-" + (name or "unnamed")[:61]


def _bundle(files: Mapping[str, bytes]) -> bytes:
    """A gzipped tar whose bytes depend on the files alone."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(files):
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(files[path]), 0o444
            tar.addfile(info, io.BytesIO(files[path]))
    return gzip.compress(raw.getvalue(), mtime=0)


# ---- HTTP

class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:  # a key must not follow a redirect to another host
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Client:
    """Talks to one project of one server. Settings that are left out come from the environment."""

    def __init__(self, url: Optional[str] = None, key: Optional[str] = None, project: Optional[str] = None, *, allow_http: bool = False) -> None:
        settings = {"OSTRAKA_URL": url or os.environ.get("OSTRAKA_URL"), "OSTRAKA_KEY": key or os.environ.get("OSTRAKA_KEY"),
                    "OSTRAKA_PROJECT": project or os.environ.get("OSTRAKA_PROJECT")}
        missing = [name for name, value in settings.items() if not value]
        if missing:
            raise ConfigurationError(f"{', '.join(missing)} not set", "start a server with `ostraka dev`, then `. ./dev-data/dev.env`; or give Client(url=…, key=…, project=…)")
        self.url, self._key, self.project = str(settings["OSTRAKA_URL"]).rstrip("/"), str(settings["OSTRAKA_KEY"]), str(settings["OSTRAKA_PROJECT"])
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"{self.url!r} is not the address of a server", "it looks like https://ostraka.example.org")
        if parts.scheme == "http" and not _is_loopback(parts.hostname) and not allow_http:
            raise ConfigurationError("the key would cross the network in the clear", "use https://, or Client(allow_http=True) where the network is yours alone")
        handlers: List[urllib.request.BaseHandler] = [_NoRedirect()]
        if _is_loopback(parts.hostname):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)
        self._lock = threading.Lock()
        self._pushed: Dict[str, int] = {}
        self._speed: Dict[str, Tuple[float, int]] = {}

    def __repr__(self) -> str:
        return f"ostraka.Client(url={self.url!r}, project={self.project!r})"  # never the key

    def _open(self, method: str, path: str, body: Union[bytes, IO[bytes], None], headers: Dict[str, str], timeout: float) -> Any:
        request = urllib.request.Request(self.url + path, data=body, method=method)
        for name, value in {"Authorization": "Bearer " + self._key, "User-Agent": "ostraka-python/" + __version__, **headers}.items():
            request.add_header(name, value)
        return self._opener.open(request, timeout=timeout)

    def _send(self, request: _Request[Any], body: Union[bytes, IO[bytes], None] = None, headers: Optional[Dict[str, str]] = None, timeout: float = 60, patience: float = 60) -> Any:
        """The open answer. What is safe to repeat is repeated while the server is away, for `patience` seconds."""
        headers = headers or {}
        repeatable = request.method in ("GET", "PUT", "DELETE") or "Idempotency-Key" in headers
        give_up, pause = time.monotonic() + patience, 0.2
        while True:
            try:
                return self._open(request.method, request.path, body, headers, timeout)
            except urllib.error.HTTPError as e:
                problem = _problem(e)
                if e.code not in (429, 502, 503, 504) or not repeatable or time.monotonic() > give_up:
                    raise problem from None
                pause = max(pause, _retry_after(e))
            except (urllib.error.URLError, ConnectionError, TimeoutError) as e:
                if not repeatable or time.monotonic() > give_up:
                    reason = getattr(e, "reason", e)
                    raise ConfigurationError(f"the server at {self.url} cannot be reached: {reason}", "check OSTRAKA_URL and that the server runs") from None
            if hasattr(body, "seek"):
                body.seek(0)  # type: ignore[union-attr]
            time.sleep(min(pause, max(0.0, give_up - time.monotonic())))
            pause = min(pause * 2, 5.0)

    def _json(self, request: _Request[_T], body: Any = None, headers: Optional[Dict[str, str]] = None, timeout: float = 60) -> _T:
        headers, data = dict(headers or {}), None
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            data = body if isinstance(body, bytes) else _dumps(body)
        with self._send(request, data, headers, timeout) as answer:
            text = answer.read(MAX_ANSWER_BYTES + 1)
        if len(text) > MAX_ANSWER_BYTES:
            raise OstrakaError(f"the answer to {request.path} has more than {MAX_ANSWER_BYTES} bytes", "read results with job.results(), which streams")
        answered: _T = json.loads(text)
        return answered

    def function(self, fn: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
        """As ostraka.function, for this client."""
        return function(fn, client=self, **options)

    def job(self, id: str) -> "Job":
        """A job by its ID, of map or of anything else."""
        return Job(self, self._json(_get_job(self.project, id)))

    def _push(self, files: Mapping[str, bytes]) -> Tuple[str, int]:
        archive = _bundle(files)
        digest = hashlib.sha256(archive).hexdigest()
        with self._lock:
            if digest not in self._pushed:
                made = self._json(_push_function(self.project), archive, {"Content-Type": "application/octet-stream"})
                self._pushed[digest] = made["version"]
            return digest, self._pushed[digest]

    def _submit(self, request: Dict[str, Any], fresh: bool) -> _JobData:
        """The same request is the same job, unless that one came to nothing."""
        body = _dumps(request)
        for attempt in itertools.count():
            key = uuid.uuid4().hex if fresh else hashlib.sha256(self.project.encode() + b"\n" + body + b"\n%d" % attempt).hexdigest()
            try:
                job = self._json(_submit_job(self.project), body, {"Idempotency-Key": "py-" + key})
                job = self._json(_get_job(self.project, job["id"]))  # a replay shows the job as it was then
            except ProblemError as e:
                if fresh or e.code != "job_deleted":
                    raise
                continue
            if fresh or job["state"] not in ("failed", "cancelled", "deleting"):
                return job
        raise AssertionError("itertools.count ended")

    def _call(self, name: str, request: Dict[str, Any], wait: float, fresh: bool) -> _Call:
        """The same call is the same job, unless that one came to nothing."""
        body, call = _dumps(request), _call_function(self.project, name, wait=f"{wait:.3f}s")
        for attempt in itertools.count():
            key = uuid.uuid4().hex if fresh else hashlib.sha256(call.path.split("?")[0].encode() + b"\n" + body + b"\n%d" % attempt).hexdigest()
            try:
                return self._json(call, body, {"Idempotency-Key": "py-" + key}, timeout=wait + 60)
            except ProblemError as e:
                if fresh or e.code != "job_deleted" and not (e.code == "call_failed" and e._headers.get("Idempotency-Replayed")):
                    raise
        raise AssertionError("itertools.count ended")

    def _store(self, lines: IO[bytes]) -> str:
        size = lines.seek(0, os.SEEK_END)
        lines.seek(0)
        with self._send(_put_object(self.project), lines, {"Content-Type": "application/octet-stream", "Content-Length": str(size)}, timeout=600, patience=0) as answer:
            return str(json.load(answer)["digest"])

    def _object(self, digest: str) -> Any:
        with self._send(_get_object(self.project, digest), timeout=600) as answer:
            text = answer.read(MAX_ANSWER_BYTES + 1)
        if hashlib.sha256(text).hexdigest() != digest:
            raise OstrakaError(f"the object {digest} came damaged or is larger than {MAX_ANSWER_BYTES} bytes", "try again")
        return json.loads(text)


def _dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def _problem(e: urllib.error.HTTPError) -> ProblemError:
    try:
        told = json.loads(e.read(1 << 20))
        detail = "; ".join([told["detail"]] + [f"{x.get('location', '')}: {x.get('message', '')}" for x in told.get("errors") or []])
        return ProblemError(e.code, told["code"], detail, told.get("hint", ""), told.get("request_id", ""), e.headers)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return ProblemError(e.code, "http_%d" % e.code, f"the server answered {e.code} {e.reason}", "is this the address of an Ostraka server?", "")


def _retry_after(e: urllib.error.HTTPError) -> float:
    try:
        return min(30.0, float(e.headers.get("Retry-After") or 0))
    except ValueError:
        return 0.0


_default: Optional[Client] = None


def configure(url: Optional[str] = None, key: Optional[str] = None, project: Optional[str] = None, **options: Any) -> Client:
    """Sets the client of functions that were given none."""
    global _default
    _default = Client(url, key, project, **options)
    return _default


def _client() -> Client:
    return _default or configure()


def job(id: str) -> "Job":
    """A job by its ID: the way back to one that goes on without you."""
    return _client().job(id)


# ---- functions

def quorum(n: int) -> Dict[str, Any]:
    """A policy: so many independent agents must give the same answer, from 1 to 16."""
    if not 1 <= n <= MAX_QUORUM:
        raise ValueError(f"quorum({n}): from 1 to {MAX_QUORUM} agents give the same answer")
    return {"quorum": n}


def target_error(rate: float, assume_hostile: float = 0.1) -> Dict[str, Any]:
    """A policy: at most this share of the accepted results is wrong, with this share of the results from liars."""
    return {"target_error": rate, "assume_hostile": assume_hostile}


def exact(answer_error: float = 1e-6, assume_hostile: float = 0.1) -> Dict[str, Any]:
    """A policy: any result of the job is wrong with at most this probability; the server chooses the cheapest way to it."""
    return {"answer_error": answer_error, "assume_hostile": assume_hostile}


def confirm(condition: str, policy: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """A policy: results whose output fulfils the condition, in CEL, are executed once more before they count, beside what policy asks for."""
    return {**(policy or {}), "confirm": condition}


def function(fn: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None, verify: Optional[Mapping[str, Any]] = None, timeout: int = 120,
             memory: Union[int, str] = "256Mi", chunk: Optional[int] = None, client: Optional[Client] = None) -> Any:
    """Makes a Function of a function, as a decorator with or without arguments.

    verify: the policy, quorum(n), target_error(rate), exact(), {"none": True} or {"recheck": "all"}; the server's default when left out.
    timeout: seconds that one shard, a chunk of inputs, may take. memory: bytes, or "512Mi".
    chunk: inputs in a shard; chosen from the measured time of the first one when left out."""
    if fn is None:
        return lambda f: function(f, name=name, verify=verify, timeout=timeout, memory=memory, chunk=chunk, client=client)
    return Function(fn, name=name, verify=verify, timeout=timeout, memory=memory, chunk=chunk, client=client)


def _check_chunk(chunk: Optional[int]) -> None:
    if chunk is not None and not 1 <= chunk <= MAX_CHUNK:
        raise ValueError(f"chunk = {chunk}: from 1 to {MAX_CHUNK} inputs make a shard")


class Function:
    """A function that runs here when it is called, and elsewhere by remote, spawn, map and starmap."""

    def __init__(self, fn: Callable[..., Any], *, name: Optional[str], verify: Optional[Mapping[str, Any]], timeout: int, memory: Union[int, str],
                 chunk: Optional[int], client: Optional[Client]) -> None:
        _check_chunk(chunk)
        if not re.fullmatch(r"[0-9]+(?:[KMG]i)?", str(memory)):
            raise ValueError(f"memory = {memory!r}: write bytes, or Ki, Mi or Gi behind the number, as in '512Mi'")
        functools.update_wrapper(self, fn)
        self.function, self.name = fn, name or _function_name(getattr(fn, "__name__", "f"))
        self._verify, self._timeout, self._memory, self._chunk, self._given = dict(verify or {}), int(timeout), memory, chunk, client

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    local = __call__

    def __repr__(self) -> str:
        return f"<ostraka function {self.name}>"

    @property
    def client(self) -> Client:
        return self._given or _client()

    @property
    def source(self) -> str:
        """The text that travels: the function, and what it uses of its module."""
        return _source_of(self.function).text

    def remote(self, *args: Any, timeout: Optional[float] = None, fresh: bool = False, **kwargs: Any) -> Any:
        """Runs one call elsewhere and waits for its verified answer, on one connection where that comes within half a minute."""
        client, inputs, began = self.client, _Items([tuple(args)]), time.monotonic()
        _, version = client._push(self._files(self._run(inputs, True, kwargs, False)))
        request: Dict[str, Any] = {"input": inputs.partition(client, 1)["values"][0], "version": version}
        if self._verify:
            request["policy"] = self._verify
        call: Optional[_Call]
        try:
            call = client._call(self.name, request, CALL_SECONDS if timeout is None else max(0.0, min(timeout, CALL_SECONDS)), fresh)
        except ProblemError as e:
            if e.code != "call_failed":
                raise
            called, call = str(e._headers.get("Location", "")).rpartition("/")[2], None
        else:
            called = call["job"]
        if call and call["state"] == "finished":
            output = {"output": call["output"]} if "output" in call else {"output_digest": call["output_object"]}
            return Job(client, cast(_JobData, {"id": called, "state": "finished"}), single=True)._values(output)[0]
        job = Job(client, client._json(_get_job(client.project, called)), single=True, inputs=1)
        return job.result(None if timeout is None else max(0.0, timeout - (time.monotonic() - began)))

    def spawn(self, *args: Any, fresh: bool = False, **kwargs: Any) -> "Job":
        """Starts one call elsewhere; result() is its value."""
        return self._start(_Items([tuple(args)]), star=True, kwargs=kwargs, chunk=1, fresh=fresh, single=True)

    def map(self, items: Iterable[Any], *, kwargs: Optional[Mapping[str, Any]] = None, chunk: Optional[int] = None, return_exceptions: bool = False, fresh: bool = False) -> "Job":
        """Runs the function on each item. A range of any size travels as its bounds, anything else as a stream. The job goes on
        whether or not somebody reads its results; the same call again is the same job, unless it failed or fresh is true."""
        inputs: Union[_Range, _Items] = _Range(items) if isinstance(items, range) else _Items(items)
        return self._start(inputs, star=False, kwargs=kwargs or {}, chunk=chunk, return_exceptions=return_exceptions, fresh=fresh)

    def starmap(self, items: Iterable[Sequence[Any]], *, kwargs: Optional[Mapping[str, Any]] = None, chunk: Optional[int] = None, return_exceptions: bool = False, fresh: bool = False) -> "Job":
        """As map, where each item is the tuple of the function's arguments."""
        return self._start(_Items(items), star=True, kwargs=kwargs or {}, chunk=chunk, return_exceptions=return_exceptions, fresh=fresh)

    def _files(self, run: Dict[str, Any]) -> Dict[str, bytes]:
        source = _source_of(self.function)
        shared: Tuple[Callable[..., Any], ...] = (encode, decode)
        values = "\n\n".join(inspect.getsource(f) for f in shared)
        manifest = (f'name = "{self.name}"\ndescription = {json.dumps(_summary(self.function), ensure_ascii=False)}\nentrypoint = "runner:handler"\n\n'
                    f'[limits]\nwall_seconds = {self._timeout}\ncpu_seconds = {max(1, self._timeout)}\nmemory_bytes = "{self._memory}"\noutput_bytes = "16Mi"\n')
        return {"function.toml": manifest.encode(), "runner.py": _RUNNER.format(name=source.name).encode(), "user_code.py": source.text.encode(),
                "values.py": values.encode(), "run.json": _dumps(run)}

    def _run(self, inputs: Union["_Range", "_Items"], star: bool, kwargs: Mapping[str, Any], return_exceptions: bool) -> Dict[str, Any]:
        try:
            constants = encode(dict(kwargs))
        except TypeError as e:
            raise ValueEncodingError(str(e), "pass JSON values, bytes, tuples, sets, dates or numpy arrays") from None
        return {"star": star, "kwargs": constants, "return_exceptions": return_exceptions, **inputs.parameters()}

    def _start(self, inputs: Union["_Range", "_Items"], *, star: bool, kwargs: Mapping[str, Any], chunk: Optional[int], fresh: bool,
               return_exceptions: bool = False, single: bool = False) -> "Job":
        _check_chunk(chunk)
        client = self.client
        files = self._files(self._run(inputs, star, kwargs, return_exceptions))
        digest, version = client._push(files)
        chunk = chunk or self._chunk or self._measured_chunk(client, inputs, star, kwargs, return_exceptions)
        request: Dict[str, Any] = {
            "function": self.name, "version": version, "partition": inputs.partition(client, chunk),
            "aggregator": {"module": "merge", "params": {"fields": {"n": "sum", "sum": "sum", "min": "min", "max": "max"}}},
        }
        if self._verify:
            request["policy"] = self._verify
        return Job(client, client._submit(request, fresh), single=single, inputs=inputs.count)

    def _measured_chunk(self, client: Client, inputs: Union["_Range", "_Items"], star: bool, kwargs: Mapping[str, Any], return_exceptions: bool) -> int:
        """How many inputs take about TARGET_SHARD_SECONDS, by the time that the first one took on an agent."""
        few = inputs.at_most(MIN_SHARDS)
        if few:
            return 1
        first = inputs.first()
        probe = _Items([first])
        key = hashlib.sha256(b"\n".join([_dumps(encode(first)), _dumps(encode(dict(kwargs))), self.source.encode()])).hexdigest()
        if key not in client._speed:
            _, version = client._push(self._files(self._run(probe, star, kwargs, return_exceptions)))
            made = client._submit({"function": self.name, "version": version, "partition": probe.partition(client, 1), "policy": {"none": True},
                                   "aggregator": {"module": "none"}}, False)
            client._speed[key] = _measure(Job(client, made))
        seconds, output_bytes = client._speed[key]
        by_time = int(TARGET_SHARD_SECONDS / max(seconds, 1e-6))
        by_output = TARGET_OUTPUT_BYTES // max(output_bytes, 1)
        by_count = MAX_CHUNK if inputs.count is None else inputs.count // MIN_SHARDS
        return max(1, min(by_time, by_output, by_count, MAX_CHUNK))


def _measure(probe: "Job") -> Tuple[float, int]:
    """Seconds and bytes of a job of one input; a slow one where it does not end in time."""
    try:
        probe.wait(CALIBRATION_SECONDS)
        shard = probe.client._json(_get_shard(probe.client.project, probe.id, "0"))
        times = [(a["wall_us"], a["output_bytes"]) for a in shard["attempts"] if a["status"] == "ok"]
    except TimeoutError:
        times = []
    return (times[0][0] / 1e6, times[0][1]) if times else (TARGET_SHARD_SECONDS, 1)


def _summary(fn: Callable[..., Any]) -> str:
    return (inspect.getdoc(fn) or "").strip().split("\n")[0][:200]


# ---- inputs

class _Range:
    """The integers of a range: bounds travel, not members. Counted by hand, since len() ends at 2^63."""

    def __init__(self, r: range) -> None:
        self.range = r
        self.count: Optional[int] = max(0, (r.stop - r.start + r.step + (-1 if r.step > 0 else 1)) // r.step)
        if self.count == 0:
            raise ValueError("the range is empty: there is nothing to run")

    def parameters(self) -> Dict[str, Any]:
        return {"start": str(self.range.start), "step": str(self.range.step)}

    def at_most(self, n: int) -> bool:
        return (self.count or 0) <= n

    def first(self) -> int:
        return self.range.start

    def partition(self, client: Client, chunk: int) -> Dict[str, Any]:
        return {"kind": "range", "from": "0", "to": str(self.count), "size": str(chunk)}


class _Items:
    """Any iterable, read once and never held whole."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.count: Optional[int] = len(items) if hasattr(items, "__len__") else None  # type: ignore[arg-type]
        self._left = iter(items)
        self._peeked: List[Any] = []

    def parameters(self) -> Dict[str, Any]:
        return {}

    def at_most(self, n: int) -> bool:
        if self.count is not None:
            return self.count <= n
        self._peeked += itertools.islice(self._left, n + 1 - len(self._peeked))
        return len(self._peeked) <= n

    def first(self) -> Any:
        if not self._peeked:
            self._peeked += itertools.islice(self._left, 1)
        return self._peeked[0]

    def _records(self, items: Iterator[Any], chunk: int) -> Iterator[bytes]:
        """One line of JSON for each shard; a chunk that would be too long for one becomes several."""
        held: List[Any] = []
        first, size = 0, 0
        for n, item in enumerate(items):
            try:
                text = _dumps(encode(item))
            except TypeError as e:
                raise ValueEncodingError(f"item {n}: {e}", "pass JSON values, bytes, tuples, sets, dates or numpy arrays") from None
            if len(text) > MAX_RECORD_BYTES:
                raise ValueEncodingError(f"item {n} has {len(text)} bytes as JSON, at most {MAX_RECORD_BYTES} are allowed", "store large inputs as files (`ostraka file put`) and pass their names")
            if held and (len(held) == chunk or size + len(text) > MAX_RECORD_BYTES):
                yield b'{"first":%d,"items":[%s]}' % (first, b",".join(held))
                first, held, size = n, [], 0
            held.append(text)
            size += len(text) + 1
        if held:
            yield b'{"first":%d,"items":[%s]}' % (first, b",".join(held))

    def partition(self, client: Client, chunk: int) -> Dict[str, Any]:
        counted = _Counted(itertools.chain(self._peeked, self._left))
        records = self._records(counted, chunk)
        head: List[bytes] = []
        for record in records:
            head.append(record)
            if len(head) > MAX_INLINE_SHARDS or sum(map(len, head[-1:])) + sum(map(len, head[:-1])) > MAX_INLINE_BYTES:
                break
        else:
            self.count = counted.count
            if not head:
                raise ValueError("there are no items: there is nothing to run")
            return {"kind": "items", "values": [json.loads(r) for r in head]}
        with tempfile.TemporaryFile() as lines:
            for record in itertools.chain(head, records):
                lines.write(record + b"\n")
            self.count = counted.count
            return {"kind": "items", "object": client._store(lines)}


class _Counted:
    def __init__(self, items: Iterable[Any]) -> None:
        self._items, self.count = iter(items), 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        value = next(self._items)
        self.count += 1
        return value


# ---- jobs

@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a job has come, in shards. Results count when they are final; accepted ones may still be taken back."""

    state: str
    total: int
    accepted: int
    final: int
    review: int
    failed: int
    reopened: int
    executions_per_shard: float

    @property
    def fraction(self) -> float:
        return self.final / self.total if self.total else 0.0

    def __str__(self) -> str:
        return f"{self.state}: {self.final} of {self.total} shards are final ({self.fraction:.0%})" + (f", {self.reopened} were taken back" if self.reopened else "")


class Job:
    """A job on the server. It goes on without this object, without this process, and without being read."""

    def __init__(self, client: Client, data: _JobData, *, single: bool = False, inputs: Optional[int] = None) -> None:
        self.client, self._data, self._single, self._inputs = client, data, single, inputs
        self.id: str = data["id"]

    def __repr__(self) -> str:
        return f"<ostraka job {self.id} {self.progress()}>"

    def refresh(self, wait: float = 0) -> "Job":
        """Asks the server; with wait it answers when the job has ended, or after so many seconds."""
        about = _get_job(self.client.project, self.id, wait=f"{max(1, min(60, int(wait)))}s" if wait >= 1 else None)
        self._data = self.client._json(about, timeout=wait + 60)
        return self

    @property
    def state(self) -> str:
        return str(self._data["state"])

    def done(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED or self.refresh().state in ENDED

    def progress(self) -> Progress:
        """How far the job has come, as of the last look."""
        s = self._data["shards"]
        v = cast(Mapping[str, Any], self._data.get("verification") or {})
        return Progress(self.state, s["total"], s["accepted"], s["accepted"] - s["provisional"], s["review"], s["failed"],
                        v.get("reopened", 0), v.get("executions_per_shard", 0.0))

    def cancel(self) -> "Job":
        """Ends the job; what runs for it is stopped."""
        self._data = self.client._json(_cancel_job(self.client.project, self.id), headers={"Idempotency-Key": uuid.uuid4().hex})
        return self

    def explain(self) -> str:
        """Why the job is not done, and what would help."""
        told = self.client._json(_explain_job(self.client.project, self.id))
        return "\n".join([told["summary"]] + [f"- {r.get('text', '')}" + (f" ({r['hint']})" if r.get("hint") else "") for r in told.get("reasons") or []])

    def wait(self, timeout: Optional[float] = None, *, bar: Optional[bool] = None) -> "Job":
        """Waits until the job has ended or needs a person. Raises TimeoutError; the job goes on then. A bar shows on stderr:
        moving on a terminal, as plain lines elsewhere, not at all with bar=False. Ctrl-C stops the waiting, not the job."""
        deadline = None if timeout is None else time.monotonic() + timeout
        shown = _Bar(self, bar)
        try:
            while self.state not in ENDED and self.state not in STUCK:
                left = 3600.0 if deadline is None else deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"the job has not ended after {timeout:g} s; it goes on: ostraka.job({self.id!r})")
                self.refresh(wait=min(left, 1.0 if shown.moving else 10.0) if left >= 1 else 0)
                if left < 1:
                    time.sleep(min(left, 0.1))
                shown.show()
        except KeyboardInterrupt:
            print(f"\nThe job goes on. To return to it, or to stop it:\n  ostraka.job({self.id!r})\n  ostraka.job({self.id!r}).cancel()", file=sys.stderr)
            raise KeyboardInterrupt from None  # without the forty lines that end in a socket
        finally:
            shown.end()
        return self

    def _ended_well(self, timeout: Optional[float]) -> "Job":
        self.wait(timeout)
        if self.state == "finished":
            return self
        if self.state in ("cancelled", "deleting"):
            raise Cancelled(f"the job {self.id} was {'deleted' if self.state == 'deleting' else 'cancelled'}", "submit it again with fresh=True")
        if self.state == "review":
            raise Disagreement(f"job {self.id}: machines gave different answers for {self.progress().review} shards and a person must decide\n{self.explain()}",
                               f"ostraka job shards {self.id} --state review; if the function is not deterministic, mend it")
        if self.state == "held":
            raise Blocked(f"job {self.id} is held: {self._data.get('aggregation_error') or self.explain()}", f"ostraka job explain {self.id}")
        raise self._failure()

    def _failure(self) -> OstrakaError:
        message = f"job {self.id} failed: {self._data.get('error') or 'no reason is known'}"
        for shard in self.client._json(_list_shards(self.client.project, self.id, state="failed", limit=1))["items"]:
            detail = self.client._json(_get_shard(self.client.project, self.id, str(shard["number"])))
            for attempt in detail["attempts"]:
                told = (attempt.get("diagnostics") or {}).get("exception")
                if told:
                    error = RemoteError(f"{message}\n  shard {shard['number']}: {told['type']}: {told['message']}", _mend(told["message"]))
                    error.__cause__ = _RemoteTraceback(told.get("traceback") or "")
                    return error
            reasons = "; ".join(r["text"] for r in detail.get("reasons") or [])
            return RemoteError(f"{message}\n  shard {shard['number']}: {reasons}", _mend(reasons) if _TIME_LIMIT in reasons else f"ostraka job shard {self.id} {shard['number']}")
        return Blocked(message, f"ostraka job explain {self.id}")

    def _lines(self, after: int = -1, final: bool = False) -> Iterator[Dict[str, Any]]:
        """The accepted shards in their order. A stream that breaks off goes on where it was."""
        failures = 0
        while True:
            try:
                with self.client._send(_stream_results(self.client.project, self.id, after=after, final="true" if final else None), timeout=120) as stream:
                    for line in stream:
                        record = json.loads(line)
                        after, failures = record["shard"], 0
                        yield record
                return
            except (ConnectionError, TimeoutError, urllib.error.URLError, OSError, ValueError):
                failures += 1
                if failures > 5:
                    raise

    def _values(self, record: Dict[str, Any]) -> List[Any]:
        output = record["output"] if "output" in record else self.client._object(record["output_digest"])
        if not isinstance(output, dict) or not isinstance(output.get("r"), list):
            raise OstrakaError(f"job {self.id} was not made by map: its results are outputs of shards", "read them with job.outputs()")
        return [_outcome(v) for v in output["r"]]

    def outputs(self) -> Iterator[Tuple[int, Any]]:
        """Number and output of each accepted shard, as the function gave it: for jobs that were not made by map."""
        for record in self._lines():
            yield record["shard"], record["output"] if "output" in record else self.client._object(record["output_digest"])

    def results(self, timeout: Optional[float] = None) -> Iterator[Any]:
        """The results in the order of the inputs, streamed, once the job has finished."""
        self._ended_well(timeout)
        for record in self._lines():
            yield from self._values(record)

    __iter__ = results

    def as_completed(self, timeout: Optional[float] = None) -> Iterator[Tuple[int, List[Any]]]:
        """Number and results of each shard as they become final, in any order. What is only accepted, and may be taken back, is not shown."""
        deadline = None if timeout is None else time.monotonic() + timeout
        seen, front = set(), -1  # all shards up to front were given out
        while True:
            ended = self.refresh().state in ENDED or self.state in STUCK
            for record in self._lines(after=front, final=True):
                if record["shard"] not in seen:
                    seen.add(record["shard"])
                    yield record["shard"], self._values(record)
            while front + 1 in seen:
                front += 1
                seen.discard(front)
            if ended:
                self._ended_well(timeout)
                return
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"the job has not ended after {timeout:g} s; it goes on: ostraka.job({self.id!r})")
            self.refresh(wait=1)

    def result(self, timeout: Optional[float] = None) -> Any:
        """All results as a list in the order of the inputs; of spawn, the one value. Raises what the function raised."""
        values = list(self.results(timeout))
        if self._inputs is not None and len(values) != self._inputs:
            raise Unverified(f"job {self.id} has {len(values)} results for {self._inputs} inputs", f"ostraka job explain {self.id}")
        return values[0] if self._single else values

    def reduce(self, op: str, timeout: Optional[float] = None) -> Any:
        """sum, min, max, count or mean of results that are numbers, folded by the server. Sums of integers are exact at any size."""
        if op not in ("sum", "min", "max", "count", "mean"):
            raise ValueError(f"reduce({op!r}): sum, min, max, count and mean are there")
        self._ended_well(timeout)
        aggregate = cast(Mapping[str, Any], self._data.get("aggregate") or {})
        value = aggregate.get("value")
        if value is None and aggregate.get("object"):
            value = self.client._object(aggregate["object"])
        if not isinstance(value, dict) or not value.get("n") or self._inputs is not None and value["n"] != self._inputs:
            counted = value.get("n") or 0 if isinstance(value, dict) else 0
            raise Unverified(f"job {self.id}: only {counted} results stand in shards that hold nothing but numbers", "reduce(…) is for results that are all numbers; fold others here, from job.results()")
        if op == "mean":
            return value["sum"] / value["n"]
        return value["n" if op == "count" else op]

    def _repr_html_(self) -> str:
        if self.state not in ENDED:
            self.refresh()
        p = self.progress()
        colour = {"finished": "#1a7f37", "failed": "#b3261e", "cancelled": "#6e7781", "review": "#9a6700", "held": "#9a6700"}.get(p.state, "#0969da")
        parts = [f"<b>{html.escape(str(self._data['function']))}</b>", html.escape(str(p)), f"{p.executions_per_shard:.2f} executions a shard" if p.executions_per_shard else "",
                 f"<code>ostraka.job({html.escape(repr(self.id))})</code>"]
        return (f'<div style="max-width:40em"><div style="background:#8884;border-radius:4px"><div style="width:{p.fraction * 100:.1f}%;min-width:2px;height:8px;'
                f'border-radius:4px;background:{colour}"></div></div><div>{" · ".join(x for x in parts if x)}</div></div>')


_TIME_LIMIT = "limits.wall_seconds"  # as messages of agents name it


def _mend(said: str) -> str:
    """What to do about a failure, in the words that this module has for it."""
    if _TIME_LIMIT in said:
        return f"{_TIME_LIMIT} is timeout= of @ostraka.function, and chunk= makes shards of fewer inputs"
    return "mend the function; the same call again starts a new job"


def _outcome(value: Any) -> Any:
    if isinstance(value, dict) and value.get("$") == "error":
        return ItemError(str(value.get("type")), str(value.get("message")), str(value.get("where") or ""))
    return decode(value)


class _Bar:
    """Progress on stderr: one moving line on a terminal, a line for each tenth elsewhere."""

    def __init__(self, job: Job, wanted: Optional[bool]) -> None:
        self.job, self.last = job, -1
        self.on = wanted is not False and (wanted is True or sys.stderr is not None and sys.stderr.isatty())
        self.moving = self.on and sys.stderr.isatty()

    def show(self) -> None:
        if not self.on:
            return
        p = self.job.progress()
        if self.moving:
            filled = int(p.fraction * 30)
            print(f"\r\x1b[K{'█' * filled}{'░' * (30 - filled)} {p}", end="", file=sys.stderr, flush=True)
        elif int(p.fraction * 10) != self.last:
            self.last = int(p.fraction * 10)
            print(p, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.moving:
            print(file=sys.stderr)


# ---- the shapes that other libraries have

class Executor(concurrent.futures.Executor):
    """concurrent.futures.Executor: submit makes a job of one call; map is one job and yields in order.

    Functions must be able to travel: see Function.source."""

    def __init__(self, client: Optional[Client] = None, max_workers: int = 32, **options: Any) -> None:
        self._client, self._options = client, options
        self._threads = concurrent.futures.ThreadPoolExecutor(max_workers, "ostraka")

    def _function(self, fn: Callable[..., Any]) -> Function:
        made: Function = fn if isinstance(fn, Function) else function(fn, client=self._client, **self._options)
        return made

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "concurrent.futures.Future[Any]":
        return self._threads.submit(lambda: self._function(fn).spawn(*args, **kwargs).wait(bar=False).result())

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: int = 1, **_: Any) -> Iterator[Any]:
        chunk = chunksize if chunksize > 1 else None
        if len(iterables) == 1:
            return self._function(fn).map(iterables[0], chunk=chunk).results(timeout)
        return self._function(fn).starmap(zip(*iterables), chunk=chunk).results(timeout)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


class aio:
    """The same for asyncio: `await aio.remote(f, 27)`, `await aio.result(job)`, `async for r in aio.results(job)`."""

    @staticmethod
    async def _call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, functools.partial(fn, *args, **kwargs))

    @staticmethod
    async def remote(fn: Function, *args: Any, **kwargs: Any) -> Any:
        return await aio._call(fn.remote, *args, **kwargs)

    @staticmethod
    async def map(fn: Function, items: Iterable[Any], **options: Any) -> Job:
        job: Job = await aio._call(fn.map, items, **options)
        return job

    @staticmethod
    async def result(job: Job, timeout: Optional[float] = None) -> Any:
        return await aio._call(job.result, timeout)

    @staticmethod
    async def results(job: Job, timeout: Optional[float] = None) -> Any:
        end, values = object(), job.results(timeout)
        while True:
            value = await aio._call(next, values, end)
            if value is end:
                return
            yield value
