package partition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// MaxItemsPerShard is the largest number of items in one shard: more of the shortest do not fit into an input.
const MaxItemsPerShard int64 = (MaxItemBytes - 1) / 2

// Groups makes shards of several items each. The input of a shard is the list of
// them, [1,2,3], each verbatim: up to Size items, and fewer where more would
// make an input of more than MaxItemBytes bytes.
type Groups struct {
	items  *Items
	size   int64
	count  int64
	offset int64  // where the next shard begins
	held   []byte // the first item of the next shard, where it was read already
	group  []byte
	err    error
}

// group puts items together as the Spec says.
func (s Spec) group(items *Items) Reader {
	if s.Size == 0 {
		return items
	}
	items.check = checkListed
	return &Groups{items: items, size: s.Size, count: items.count, offset: items.offset}
}

// checkListed says why an item cannot be one of several in an input: it has less room there, and nests a level deeper.
func checkListed(item []byte) *Error {
	list := make([]byte, 0, len(item)+len("[]"))
	list = append(append(append(list, '['), item...), ']')
	if err := checkItem(list); err != nil {
		return err
	}
	return checkItem(item) // "1,2" is no item, and a list of two in brackets
}

// Count returns how many shards Next has yielded.
func (g *Groups) Count() int64 { return g.count }

// Offset returns where in the input the next shard begins.
func (g *Groups) Offset() int64 { return g.offset }

// Next returns the input of the next shard, valid until the next call, and
// io.EOF at the end; without any item the error is one of CodeNoItems.
func (g *Groups) Next() ([]byte, error) {
	if g.err != nil {
		return nil, g.err
	}
	group, err := g.next()
	if err != nil {
		g.err = err
		return nil, err
	}
	g.count++
	return group, nil
}

func (g *Groups) next() ([]byte, error) {
	g.group = append(g.group[:0], '[')
	taken := int64(0)
	if g.held != nil {
		g.group = append(g.group, g.held...)
		g.held, taken = nil, 1
	}
	for ; taken < g.size; taken++ {
		before := g.items.Offset()
		item, err := g.items.Next()
		if errors.Is(err, io.EOF) && taken > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if taken > 0 && len(g.group)+len(",")+len(item)+len("]") > MaxItemBytes {
			g.held, g.offset = append([]byte{}, item...), before
			return g.whole()
		}
		if taken > 0 {
			g.group = append(g.group, ',')
		}
		g.group = append(g.group, item...)
	}
	g.offset = g.items.Offset()
	return g.whole()
}

// whole ends an input.
func (g *Groups) whole() ([]byte, error) {
	if g.count == MaxShards {
		return nil, &Error{
			Code: CodeTooManyShards, Line: g.items.Line(), Detail: fmt.Sprintf("there are more than %d shards", MaxShards),
			Hint: "put more items into a shard, or split the file into several jobs",
		}
	}
	return append(g.group, ']'), nil
}

// ReadSize reads how many items make a shard; 0: nobody says.
func ReadSize(fields map[string]json.RawMessage) (int64, error) {
	if _, given := fields["size"]; !given {
		return 0, nil
	}
	text, err := textField(fields, "size")
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size <= 0 || size > MaxItemsPerShard {
		return 0, &Error{Code: CodeShardSize, Field: "size", Detail: quoted(text) + " items a shard", Hint: fmt.Sprintf(`write "size": "100", a number from 1 to %d, or leave it out`, MaxItemsPerShard)}
	}
	return size, nil
}

// sizeField is the end of a Spec of items that says it.
func (s Spec) sizeField() string {
	if s.Size == 0 {
		return ""
	}
	return fmt.Sprintf(`,"size":"%d"`, s.Size)
}
