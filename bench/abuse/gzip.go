package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"

	"github.com/ostraka/ostraka/client"
)

// bombText is the text of the bomb, which takes a thousandth of that to send.
const (
	bombText      = 256 << 20
	bombTextShort = 64 << 20
	// bombSeconds is how much processor time a request may take that has cost next to nothing to make.
	bombSeconds = 3
)

// gzipBomb submits a job over a gzip that is small and holds endless empty lines.
func gzipBomb(ctx context.Context, s *scene) ([]figure, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	lines := bytes.Repeat([]byte("\n"), 1<<20)
	for range s.size(bombTextShort, bombText) / len(lines) {
		if _, err := z.Write(lines); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	before, err := s.server.CPUSeconds()
	if err != nil {
		return nil, err
	}
	res, err := s.overLines(ctx, packed.Bytes())
	if err != nil {
		return nil, err
	}
	after, err := s.server.CPUSeconds()
	if err != nil {
		return nil, err
	}
	figures := []figure{{"gzip_bomb_bytes", float64(packed.Len())}, {"gzip_bomb_cpu_s", after - before}}
	if after-before > bombSeconds {
		return figures, harm("a gzip of %d bytes took %.1f s of processor time within the request (%s)", packed.Len(), after-before, res.Status())
	}
	_, err = s.own(ctx, 10, usual())
	return figures, err
}

// corruptGzip submits jobs over gzips that are broken inside. It is their sender's fault, and must not look like the server's.
func corruptGzip(ctx context.Context, s *scene) ([]figure, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 10_000 {
		fmt.Fprintln(z, i)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	good := packed.Bytes()
	zeroed := bytes.Clone(good)
	copy(zeroed[len(zeroed)/2:], make([]byte, 6))
	header := append([]byte{0x1f, 0x8b, 8, 0}, bytes.Repeat([]byte{0xff}, 50)...)
	for _, c := range []struct {
		what string
		text []byte
	}{{"zeroes inside", zeroed}, {"nothing but a header", header}, {"its end missing", good[:len(good)/2]}, {"more behind it", append(bytes.Clone(good), 1, 2, 3)}} {
		res, err := s.overLines(ctx, c.text)
		if err != nil {
			return nil, err
		}
		if res.StatusCode() != http.StatusUnprocessableEntity {
			return nil, harm("a gzip with %s is answered with %s: %s", c.what, res.Status(), res.Body)
		}
	}
	return nil, nil
}

// overLines stores a text and submits a job over its lines.
func (s *scene) overLines(ctx context.Context, text []byte) (*client.SubmitJobResponse, error) {
	t := s.hostile
	put, err := t.Owner.PutObjectWithBodyWithResponse(ctx, t.ID, nil, "application/octet-stream", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if put.JSON201 == nil {
		return nil, fmt.Errorf("storing a text: %s: %s", put.Status(), put.Body)
	}
	return t.Owner.SubmitJobWithResponse(ctx, t.ID, nil, client.JobRequest{
		Function: "trivial", Partition: client.Partition{Kind: "lines", Object: put.JSON201.Digest, Lines: "16000"}, Policy: &client.PolicyRequest{None: true},
	})
}
