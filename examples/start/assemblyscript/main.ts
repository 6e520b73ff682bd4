// Counts the palindromes among the integers of a range: a command for WASI. The shard's input is one line of JSON on standard input,
// {"from":"...","to":"..."}, and the result one JSON value on standard output. It must be the same for the same input.
//
// There is no library for WASI here: the functions of it that are needed are declared.

@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(fd: i32, vectors: usize, count: i32, read: usize): i32;
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, vectors: usize, count: i32, written: usize): i32;
@external("wasi_snapshot_preview1", "proc_exit")
declare function proc_exit(code: i32): void;

const MAX_INPUT: u32 = 4096;
const vector = memory.data(8), moved = memory.data(4), buffer = memory.data(4096);

// abort takes the place of AssemblyScript's own, which the host does not offer.
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  fail(message === null ? "aborted" : message);
}

function write(fd: i32, text: string): void {
  const bytes = String.UTF8.encode(text);
  store<usize>(vector, changetype<usize>(bytes));
  store<u32>(vector, bytes.byteLength, 4);
  fd_write(fd, vector, 1, moved);
}

function fail(why: string): void {
  write(2, why + "\n");
  proc_exit(1);
}

function readAll(): string {
  let size: u32 = 0;
  while (size < MAX_INPUT) {
    store<usize>(vector, buffer + size);
    store<u32>(vector, MAX_INPUT - size, 4);
    if (fd_read(0, vector, 1, moved) != 0 || load<u32>(moved) == 0) break;
    size += load<u32>(moved);
  }
  return String.UTF8.decodeUnsafe(buffer, size);
}

// bound reads a decimal text of the input, such as "from":"12".
function bound(input: string, name: string): u64 {
  let at = input.indexOf(name);
  if (at < 0) fail('the input must be {"from":"...","to":"..."}');
  at += name.length;
  const first = at;
  let value: u64 = 0;
  for (; at < input.length; at++) {
    const digit = <u64>(input.charCodeAt(at) - 0x30);
    if (digit > 9) break;
    if (value > (u64.MAX_VALUE - digit) / 10) fail("a bound is beyond 64 bits");
    value = value * 10 + digit;
  }
  if (at == first || input.charAt(at) != '"') fail("a bound is no decimal number");
  return value;
}

function isPalindrome(n: u64): bool {
  let reversed: u64 = 0;
  for (let left = n; left > 0; left /= 10) {
    if (reversed > (u64.MAX_VALUE - left % 10) / 10) return false; // beyond 64 bits, so not n
    reversed = reversed * 10 + left % 10;
  }
  return reversed == n;
}

const input = readAll();
const from = bound(input, '"from":"'), to = bound(input, '"to":"');
if (to < from) fail("the range is reversed");
let palindromes: u64 = 0;
for (let n = from; n < to; n++) if (isPalindrome(n)) palindromes++;
write(1, '{"palindromes":' + palindromes.toString() + ',"tested":' + (to - from).toString() + "}\n");
