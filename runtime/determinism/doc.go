// Package determinism finds out whether a function gives the same result on
// every machine, before strangers' machines disagree about it.
//
// [Check.Run] runs the same shards twice: first as agents do, in one session,
// then with another hash seed, in another time zone, in the opposite order and
// in several sessions of different sizes; process numbers, directories and the
// time differ anyway. Differences are reported value by value. For
// shards that differ, each change is then made alone, and none at all, to tell
// which one it was; [Scan] looks for possible causes in the source.
//
// It does not find causes that cannot be varied on one machine: another version
// of Python (agents carry the same one), other processors' arithmetic in native
// code, a clock that matters by the day. Scan still names the calls that
// deserve a look. Locales are not varied: an agent's sandbox holds none but
// C.UTF-8, so nothing can depend on them.
package determinism
