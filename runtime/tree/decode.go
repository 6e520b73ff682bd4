package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decode reads a manifest, and no more of a list than is allowed: what is written in three bytes takes twenty times as much in memory.
func decode(data []byte, m *Manifest) error {
	lists := struct {
		*Manifest // the lists below have the names of its own, and are taken instead

		Libraries bounded[string] `json:"libraries"`
		Packages  bounded[string] `json:"packages"`
		Entries   bounded[Entry]  `json:"entries"`
		Pieces    bounded[Piece]  `json:"pieces"`
	}{
		Manifest:  m,
		Libraries: bounded[string]{most: MaxSearched, tooMany: errTooManySearched}, Packages: bounded[string]{most: MaxSearched, tooMany: errTooManySearched},
		Entries: bounded[Entry]{most: MaxEntries, tooMany: errTooManyEntries}, Pieces: bounded[Piece]{most: MaxPieces, tooMany: errTooManyPieces},
	}
	if err := strictly(data).Decode(&lists); err != nil {
		return err
	}
	m.Libraries, m.Packages, m.Entries, m.Pieces = lists.Libraries.values, lists.Packages.values, lists.Entries.values, lists.Pieces.values
	return nil
}

var (
	errTooManySearched = fmt.Errorf("more than %d folders are to be searched", MaxSearched)
	errTooManyEntries  = fmt.Errorf("it has too many files, at most %d are allowed: leave packages out that no function imports", MaxEntries)
	errTooManyPieces   = fmt.Errorf("it has too many pieces, at most %d are allowed", MaxPieces)
)

func strictly(data []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d
}

// bounded is a list that is read value by value.
type bounded[T any] struct {
	most    int
	tooMany error
	values  []T
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *bounded[T]) UnmarshalJSON(data []byte) error {
	b.values = nil // the last of two lists of one name counts
	d := strictly(data)
	start, err := d.Token()
	switch {
	case err != nil:
		return err
	case start == nil: // null
		return nil
	case start != json.Delim('['):
		return fmt.Errorf("there is %v where a list belongs", start)
	}
	b.values = []T{}
	for d.More() {
		if len(b.values) == b.most {
			return b.tooMany
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		b.values = append(b.values, v)
	}
	return nil
}
