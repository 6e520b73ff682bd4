// Package determinism finds out whether a function gives the same result on
// every machine, before strangers' machines disagree about it.
//
// [Check.Run] runs the same shards twice: first as agents do, in one session,
// then with another hash seed, in another time zone, in the opposite order and
// in several sessions of different sizes; process numbers, directories and the
// time differ anyway. What is not the same is reported value by value. For
// shards that differ, each change is then made alone, and none at all, to tell
// which one it was; [Scan] reads the source for what may be behind it.
//
// What cannot be varied on one machine is not found: another version of
// Python (agents carry the same one), other processors' arithmetic in native
// code, a clock that matters by the day. Scan names the calls that deserve a
// look all the same. Locales are not varied: an agent's sandbox holds none but
// C.UTF-8, so nothing can depend on them.
package determinism
