package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client/answer"
)

const (
	// defaultListed is how many items a list shows when nothing is said: a few screens.
	defaultListed = 100
	// pageSize is how many items are asked for at a time, the most that the server gives.
	pageSize = 500
)

// listFlags are the flags of every list.
type listFlags struct {
	outputFlag
	limit int
}

func (l *listFlags) register(flags *pflag.FlagSet) {
	l.outputFlag.register(flags)
	flags.IntVar(&l.limit, "limit", defaultListed, "how many to show at most; 0 shows all")
}

func (l *listFlags) check() error {
	if l.limit < 0 {
		return usageError("--limit is %d: it is a number of items, or 0 for all", l.limit)
	}
	return l.outputFlag.check()
}

// pageOf is one page as the server sends it, items and bytes alike.
type pageOf[T any] struct {
	Items      []item[T] `json:"items"`
	NextCursor string    `json:"next_cursor"`
}

// item is a value with the bytes that it was read from.
type item[T any] struct {
	value T
	raw   json.RawMessage
}

// UnmarshalJSON keeps the bytes.
func (i *item[T]) UnmarshalJSON(text []byte) error {
	i.raw = append(json.RawMessage(nil), text...)
	return json.Unmarshal(text, &i.value)
}

// gather collects pages until there are enough; more says that there would be further items.
func gather[T any](limit int, page func(cursor *string, size *int64) (*http.Response, error)) (values []T, raw []json.RawMessage, more bool, err error) {
	var cursor *string
	for {
		size := int64(pageSize)
		if limit > 0 {
			size = min(size, int64(limit-len(values))+1) // one more tells whether there is more
		}
		doc, err := answer.Read[pageOf[T]](page(cursor, &size))
		if err != nil {
			return nil, nil, false, err
		}
		for _, i := range doc.Value.Items {
			if limit > 0 && len(values) == limit {
				return values, raw, true, nil
			}
			values, raw = append(values, i.value), append(raw, i.raw)
		}
		if doc.Value.NextCursor == "" {
			return values, raw, false, nil
		}
		cursor = &doc.Value.NextCursor
	}
}

// show gathers a list and prints it.
func show[T any](t *terminal, l *listFlags, doing string, headings []string, row func(T) []string, page func(cursor *string, size *int64) (*http.Response, error)) error {
	values, raw, more, err := gather[T](l.limit, page)
	if err != nil {
		return explain(doing, err)
	}
	if err := printRows(t, &l.outputFlag, values, raw, headings, row); err != nil {
		return err
	}
	if more {
		t.say("there are more: --limit 0 shows all")
	}
	return nil
}

// newList makes the command that lists all that a project has of something.
func newList(server *serverFlags, short string, list func(ctx context.Context, c *connection, l *listFlags) error) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: short, Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			return list(cmd.Context(), c, l)
		},
	}
	l.register(cmd.Flags())
	return cmd
}
