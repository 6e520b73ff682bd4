// Package canonical checks the bytes of JSON documents without ever parsing
// and re-printing them.
//
// Agents agree on a shard when the digests of their outputs are equal, so an
// output has exactly one permitted form: the bytes that Python prints for
//
//	json.dumps(v, ensure_ascii=False, sort_keys=True,
//	           separators=(",", ":"), allow_nan=False)
//
// minus what Python lets through and other readers do not: NUL, lone
// surrogates, duplicate keys, and nesting deeper than [MaxDepth]. [Check]
// refuses everything else. [Valid] is the looser check for documents that
// clients write by hand: white space, key order and escapes are free there, but
// the same hazards are refused. Integers are exact at any length in both.
package canonical
