package client_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

const stream = ": watching\n\nid: 1\nevent: nothing\n\nevent: progress\ndata: {}\n\nid: 3\nevent: flagged\ndata: {\"a\":\ndata: 1}\n\n"

func TestEventReader(t *testing.T) {
	for name, ends := range map[string]string{"LF": "\n", "CR LF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			r := client.NewEventReader(strings.NewReader(strings.ReplaceAll(stream, "\n", ends)))
			e, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, client.StreamEvent{Type: "progress", Data: "{}"}, e)
			require.Empty(t, r.LastID())
			e, err = r.Next()
			require.NoError(t, err)
			require.Equal(t, client.StreamEvent{ID: "3", Type: "flagged", Data: "{\"a\":\n1}"}, e)
			require.Equal(t, "3", r.LastID())
			_, err = r.Next()
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestEventThatIsCutOffDoesNotCount(t *testing.T) {
	for _, text := range []string{"id: 3\nevent: x\ndata: 1\n", "id: 3\ndata: 1", "event: x\n", "da"} {
		r := client.NewEventReader(strings.NewReader(text))
		_, err := r.Next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%q", text)
		require.Empty(t, r.LastID())
	}
}

func TestLongestLine(t *testing.T) {
	const frame = len("data: ")
	r := client.NewEventReader(strings.NewReader("data: " + strings.Repeat("x", client.MaxLineBytes-frame) + "\n\n"))
	e, err := r.Next()
	require.NoError(t, err)
	require.Len(t, e.Data, client.MaxLineBytes-frame)
	r = client.NewEventReader(strings.NewReader("data: " + strings.Repeat("x", client.MaxLineBytes-frame+1) + "\n\n"))
	_, err = r.Next()
	require.ErrorContains(t, err, "more than 1048576 bytes")
}

func TestResultReader(t *testing.T) {
	r := client.NewResultReader(strings.NewReader(`{"shard":7,"output":123456789012345678901234567890,"output_digest":"ab"}` + "\n" + `{"shard":8`))
	result, line, err := r.Next()
	require.NoError(t, err)
	require.EqualValues(t, 7, result.Shard)
	require.Equal(t, "123456789012345678901234567890", string(result.Output))
	require.True(t, strings.HasSuffix(string(line), `"ab"}`))
	_, _, err = r.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, _, err = client.NewResultReader(strings.NewReader("hello\n")).Next()
	require.ErrorContains(t, err, "reading results")
}

func FuzzEventReader(f *testing.F) {
	f.Add(stream)
	f.Add("data\n\n:\n\nid\nid: 1\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := client.NewEventReader(strings.NewReader(text))
		for range len(text) + 1 { // each event takes a byte at least
			if _, err := r.Next(); err != nil {
				return
			}
		}
		t.Fatal("more events than bytes")
	})
}
