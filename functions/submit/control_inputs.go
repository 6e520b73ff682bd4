package submit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// valueOf is an input in canonical JSON, or as it is where it has no such form: what is equal there is the same value.
func valueOf(input []byte) string {
	if form, err := canonical.Form(input, partition.MaxItemBytes); err == nil {
		return string(form)
	}
	return string(input)
}

// refuseTwins refuses two controls with one input: an agent that is lent both knows what they are, and they may know two answers.
func refuseTwins(placed []placedControl) error {
	first := map[string]int{}
	for i, p := range placed {
		if p.input == nil {
			continue
		}
		value := valueOf(p.input)
		if other, twice := first[value]; twice {
			return badControl(i, "give each input once, with one answer", "it has the input of control %d", other+1)
		}
		first[value] = i
	}
	return nil
}

// ownItems finds controls whose input is one of the job's items, while these are read.
type ownItems struct {
	values  map[string]int // of the controls' inputs, by their value
	written map[string]int // by how they are written
}

// refuse refuses the control whose input this item is. The first items are compared by their value, the others byte by byte, which costs as much as
// a look into a table: a job may have millions.
func (o ownItems) refuse(item []byte, number int64) error {
	i, own := o.written[string(item)]
	if !own && number < shapesRead {
		i, own = o.values[valueOf(item)]
	}
	if !own {
		return nil
	}
	return badControl(i, fmt.Sprintf("give an input that the job does not have, or name the shard whose answer you know: {\"shard\": %d, \"output\": …}", number),
		"its input is that of shard %d of the job: an agent that is lent both knows that one is a control", number)
}

// refuseItems refuses controls whose input the job has. They are written as its items are: see writtenAs.
func (s *Service) refuseItems(ctx context.Context, project uuid.UUID, placed []placedControl, plan *plannedJob) error {
	o := ownItems{values: map[string]int{}, written: map[string]int{}}
	for i, p := range placed {
		if p.input != nil {
			o.values[valueOf(p.input)], o.written[string(p.input)] = i, i
		}
	}
	if len(o.written) == 0 {
		return nil
	}
	items, err := s.itemsOf(ctx, project, plan)
	if err != nil {
		return err
	}
	defer func() { _ = items.Close() }()
	return o.refuseAny(partition.NewItems(items))
}

// refuseAny reads all items of a job.
func (o ownItems) refuseAny(items partition.Reader) error {
	for number := int64(0); ; number++ {
		item, err := items.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return functions.BadPartition(err)
		}
		if err := o.refuse(item, number); err != nil {
			return err
		}
	}
}
