package runner

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/ostraka/ostraka/wasm/meter"
)

const (
	// slice is how many units a guest gets at a time: between two slices the
	// collector and the deadline get their turn, every millisecond or so.
	slice = 1_000_000
	// unitsPerByte is the price of a byte through stdin, stdout or stderr.
	unitsPerByte = 1
)

// fuel is what one batch may use and has used. Only the guest's own thread
// touches it.
type fuel struct {
	limit    int64
	granted  int64 // units that the guest got in slices
	streamed int64 // units for bytes that its streams moved
	deadline time.Time
	// rest is what is left of the slice: at the end of the guest, at a call,
	// at a tick. A trap between two of them does not count what is between.
	// Nil if the module is not metered.
	rest     api.MutableGlobal
	exceeded Exceeded
}

func newFuel(b Batch) *fuel {
	return &fuel{limit: b.Fuel, deadline: time.Now().Add(b.Wall)}
}

// offerTick makes the host function that metered modules call.
func (g *guest) offerTick(ctx context.Context) error {
	tick := api.GoFunc(func(_ context.Context, stack []uint64) {
		stack[0] = api.EncodeI64(g.fuel.tick(int64(stack[0])))
	})
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := g.runtime.NewHostModuleBuilder(meter.ImportModule).
		NewFunctionBuilder().WithGoFunction(tick, i64, i64).Export(meter.ImportTick).
		Instantiate(ctx)
	return err
}

// tick takes what is left of a slice, a negative number, and grants the next.
func (f *fuel) tick(rest int64) int64 {
	used := f.granted - rest
	f.rest.Set(api.EncodeI64(rest))
	left := f.limit - used - f.streamed
	switch {
	case left < 0:
		f.end(ExceededFuel, exitFuel)
	case time.Now().After(f.deadline):
		f.end(ExceededWall, exitWall)
	}
	grant := min(slice, left)
	f.granted = used + grant
	f.rest.Set(api.EncodeI64(grant))
	return grant
}

// charge pays for bytes that a stream moves.
func (f *fuel) charge(bytes int) {
	if f.rest == nil {
		return
	}
	f.streamed += int64(bytes) * unitsPerByte
	if f.granted+f.streamed > f.limit+slice {
		f.end(ExceededFuel, exitFuel)
	}
}

func (f *fuel) end(e Exceeded, code uint32) {
	f.exceeded = e
	panic(sys.NewExitError(code))
}

// used returns the units that were used.
func (f *fuel) used() int64 {
	if f.rest == nil {
		return 0
	}
	return f.granted - int64(f.rest.Get()) + f.streamed
}
