package verify

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// OwnerLots draw for each shard of a job which of the owners that are there it is
// for, by the project's secret: no owner knows which shards it will lease, and none
// can change that by asking earlier or more often. They are for one goroutine.
type OwnerLots struct {
	mine   cipher.Block
	others []cipher.Block
}

// NewOwnerLots prepares the lots of an owner among others.
func NewOwnerLots(secret []byte, job, owner string, others []string) OwnerLots {
	l := OwnerLots{mine: ownerCipher(secret, job, owner)}
	for _, o := range others {
		if o != owner {
			l.others = append(l.others, ownerCipher(secret, job, o))
		}
	}
	return l
}

// Alone says whether so many are drawn for a shard that it is for all who are there.
func (l OwnerLots) Alone(width int64) bool { return int64(len(l.others)) < width }

// Drawn says whether the owner is among the first of all who are there for a shard.
func (l OwnerLots) Drawn(shard, width int64) bool {
	if l.Alone(width) {
		return true
	}
	mine, before := lotOf(l.mine, shard), int64(0)
	for _, o := range l.others {
		if lotOf(o, shard) < mine {
			if before++; before >= width {
				return false
			}
		}
	}
	return before < width
}

// DrawWidth is for how many of the owners that are there a shard is that needs so
// many, after it has waited for those that were drawn: twice as many each time
// that it has waited for so long. It is for all in the end.
func DrawWidth(need int64, waited, each time.Duration) int64 {
	if each <= 0 {
		return need
	}
	const most = 1 << 40 // more than there are owners
	for times := waited / each; times > 0 && need < most; times-- {
		need *= 2
	}
	return need
}

// ownerCipher has a key that the secret, the job and the owner make. As a block
// cipher it draws a lot in the time that a hash takes for a fiftieth of one.
func ownerCipher(secret []byte, job, owner string) cipher.Block {
	mac := hmac.New(sha256.New, secret)
	mac.Write(binary.BigEndian.AppendUint32([]byte("owner"), uint32(len(job)&0xffffffff)))
	mac.Write([]byte(job))
	mac.Write([]byte(owner))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(fmt.Sprintf("a SHA-256 is no key of AES: %v", err)) // it has 32 bytes
	}
	return block
}

func lotOf(of cipher.Block, shard int64) uint64 {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(shard))
	of.Encrypt(b[:], b[:])
	return binary.BigEndian.Uint64(b[:])
}
