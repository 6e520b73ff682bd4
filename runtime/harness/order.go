//go:build linux

package harness

import (
	"bytes"
	"encoding/binary"
)

// jsonSpace is the white space that JSON knows.
const jsonSpace = " \t\r\n"

// order is the packet that a shard's process gets, beside its descriptors: the
// number of the shard, its seed, the lengths of three paths (big-endian, 64, 64
// and thrice 32 bits), the paths, which are its home, its output and its inputs,
// and the input, unless that comes on descriptor 0.
func (f *flight) order() []byte {
	s := &f.shard
	packet := make([]byte, 0, 28+len(s.Home)+len(s.Output)+len(s.Inputs)+maxInlineInput)
	packet = binary.BigEndian.AppendUint64(packet, uint64(s.Index))
	packet = binary.BigEndian.AppendUint64(packet, Seed(f.cfg.Digest, f.cfg.Settings.Job, s.Index))
	packet = binary.BigEndian.AppendUint32(packet, uint32(len(s.Home)))
	packet = binary.BigEndian.AppendUint32(packet, uint32(len(s.Output)))
	packet = binary.BigEndian.AppendUint32(packet, uint32(len(s.Inputs)))
	packet = append(append(append(packet, s.Home...), s.Output...), s.Inputs...)
	if f.inline() {
		packet = append(packet, bytes.Trim(s.Input, jsonSpace)...)
	}
	return packet
}
