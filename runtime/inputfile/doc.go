// Package inputfile says how the files of a shard are named and how its input lists them. It is pure: the server, which writes
// the list, and the agent, which must not trust it, read it by the same rules.
//
// The input of a shard with one file is an object,
//
//	{"digest":"<SHA-256>","name":"texts/a.txt","path":"texts/a.txt","size":1234}
//
// and of a shard that may have several an array of such objects. path is where the file is below $OSTRAKA_INPUT.
package inputfile
