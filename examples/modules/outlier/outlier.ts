// Outlier is a heuristic in AssemblyScript: how long a result is, compared with
// the length that is usual, says how much it deserves a look.
//
//   asc outlier.ts -O3 --runtime stub --exportStart _start --use abort=outlier/abort -o outlier.wasm
//
// Parameters: {"usual": 100}, in bytes. There is no WASI library here: the two
// functions of WASI that it needs are declared at the top.

@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(fd: i32, vectors: usize, count: i32, read: usize): i32;
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, vectors: usize, count: i32, written: usize): i32;
@external("wasi_snapshot_preview1", "proc_exit")
declare function proc_exit(code: i32): void;

const BAD_INPUT = 65, UNSUPPORTED = 64;
const MAX_LINE: u32 = 1 << 20;
const vector = memory.data(8), moved = memory.data(4);
const input = heap.alloc(MAX_LINE + (64 << 10)), output = heap.alloc(64 << 10);
let start: u32 = 0, end: u32 = 0, filled: u32 = 0;

// abort takes the place of AssemblyScript's own, which the host does not offer.
export function abort(message: usize, file: usize, line: u32, column: u32): void { proc_exit(BAD_INPUT); }

function flush(): void {
  store<usize>(vector, output);
  store<u32>(vector, filled, 4);
  fd_write(1, vector, 1, moved);
  filled = 0;
}

function putByte(b: u8): void {
  if (filled == 64 << 10) flush();
  store<u8>(output + filled++, b);
}

function putBytes(from: usize, size: u32): void {
  for (let i: u32 = 0; i < size; i++) putByte(load<u8>(from + i));
}

function put(text: string): void {
  for (let i = 0; i < text.length; i++) putByte(<u8>text.charCodeAt(i)); // ASCII only
}

let lineAt: usize = 0, lineEnd: usize = 0;

// nextLine finds the next line in the input; false after the last.
function nextLine(): bool {
  let seen = start;
  while (true) {
    for (; seen < end; seen++) {
      if (load<u8>(input + seen) == 10) {
        lineAt = input + start;
        lineEnd = input + seen;
        start = seen + 1;
        return true;
      }
    }
    memory.copy(input, input + start, end - start);
    end -= start;
    seen = end;
    start = 0;
    if (end >= MAX_LINE) proc_exit(BAD_INPUT);
    store<usize>(vector, input + end);
    store<u32>(vector, 64 << 10, 4);
    if (fd_read(0, vector, 1, moved) != 0 || load<u32>(moved) == 0) return false;
    end += load<u32>(moved);
  }
  return false;
}

// skip returns what follows the JSON value at p.
function skip(p: usize): usize {
  let depth = 0;
  do {
    const c = load<u8>(p);
    if (c == 0x22) {
      for (p++; p < lineEnd && load<u8>(p) != 0x22; p++) if (load<u8>(p) == 0x5c) p++;
      p++;
    } else if (c == 0x7b || c == 0x5b) { depth++; p++; }
    else if (c == 0x7d || c == 0x5d) { depth--; p++; }
    else if (c == 0x2c || c == 0x3a) p++;
    else for (; p < lineEnd; p++) {
      const d = load<u8>(p);
      if (d == 0x2c || d == 0x3a || d == 0x5d || d == 0x7d) break;
    }
  } while (depth > 0 && p < lineEnd);
  return p;
}

function same(p: usize, text: string): bool {
  for (let i = 0; i < text.length; i++) if (load<u8>(p + i) != <u8>text.charCodeAt(i)) return false;
  return true;
}

// member finds a member of the object at p by its quoted name; 0 without one.
function member(p: usize, name: string): usize {
  if (p == 0 || load<u8>(p) != 0x7b) return 0;
  for (p++; p < lineEnd && load<u8>(p) == 0x22;) {
    const found = same(p, name);
    p = skip(p) + 1;
    if (found) return p;
    p = skip(p);
    if (p >= lineEnd || load<u8>(p) != 0x2c) return 0;
    p++;
  }
  return 0;
}

function number(p: usize): f64 {
  let v: f64 = 0;
  for (; p < lineEnd; p++) {
    const c = load<u8>(p);
    if (c < 0x30 || c > 0x39) break;
    v = v * 10 + <f64>(c - 0x30);
  }
  return v;
}

const description = '{"t":"describe","name":"outlier","version":"1.0.0","kinds":["heuristic"],"summary":"results much longer or shorter than usual",'
  + '"params":{"type":"object","additionalProperties":false,"properties":{"usual":{"type":"integer","minimum":1,"maximum":1000000,"default":100}}}}\n';

function score(usual: f64): void {
  const id = member(lineAt, '"id"');
  if (id == 0) proc_exit(BAD_INPUT);
  const content = member(lineAt, '"content"');
  const size: f64 = content == 0 ? 0 : <f64>(skip(content) - content);
  const thousandths = <i32>(1000 * Math.abs(size - usual) / Math.max(size, usual));
  put('{"id":');
  putBytes(id, <u32>(skip(id) - id));
  put(',"score":0.');
  put((thousandths > 999 ? 999 : thousandths).toString().padStart(3, "0"));
  put(thousandths > 500 ? ',"labels":["length"]}\n' : ',"labels":[]}\n');
}

if (!nextLine()) proc_exit(BAD_INPUT);
const phase = member(lineAt, '"phase"');
if (phase != 0 && same(phase, '"describe"')) put(description);
else if (phase != 0 && same(phase, '"run"')) {
  const given = member(member(lineAt, '"params"'), '"usual"');
  const usual = given == 0 ? 100 : number(given);
  while (nextLine()) score(usual);
} else proc_exit(UNSUPPORTED);
flush();
