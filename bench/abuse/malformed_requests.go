package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// malformedRequests spoils good requests in random places. The server must answer each with what is wrong with it, and blame itself
// for none.
func malformedRequests(ctx context.Context, s *scene) ([]figure, error) {
	random := rand.New(rand.NewPCG(s.seed, s.seed)) //nolint:gosec // that the same seed makes the same requests is the point
	good := s.requests()
	count := s.size(500, 20_000)
	answered := 0
	for i := range count {
		request := spoil(random, good[i%len(good)])
		status, err := s.raw(ctx, request)
		if err != nil {
			return nil, harm("request %d of seed %d left the server without an answer for others: %v\n%q", i, s.seed, err, request)
		}
		if status == http.StatusInternalServerError || status == http.StatusBadGateway || status == http.StatusGatewayTimeout {
			return nil, harm("request %d of seed %d is answered with %d:\n%q", i, s.seed, status, request)
		}
		if status > 0 {
			answered++
		}
	}
	_, err := s.own(ctx, 10, usual())
	return []figure{{"malformed_requests", float64(count)}, {"malformed_requests_answered", float64(answered)}}, err
}

// requests are good ones of each kind.
func (s *scene) requests() []string {
	jobs := "/v1/projects/" + s.hostile.ID.String() + "/jobs"
	post := func(path, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			path, s.hostile.OwnerKey, len(body), body)
	}
	get := func(path string) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, s.hostile.OwnerKey)
	}
	return []string{
		post(jobs, `{"function":"trivial","partition":{"kind":"range","from":"0","to":"3","size":"1"},"policy":{"quorum":1},"version":1}`),
		post(jobs, `{"function":"trivial","partition":{"kind":"items","values":[1,{"a":[null,1e308]},"\u00e9"]},"aggregator":{"module":"sum","params":{"a":1}}}`),
		post("/v1/agent/enrol", `{"name":"x","isolation":"process","public_key":"AAAA","proof":"AAAA","platform":{"os":"a","arch":"b","cpus":1}}`),
		post("/v1/projects/"+s.hostile.ID.String()+"/keys", `{"name":"x","role":"viewer"}`),
		get(jobs + "?limit=10&cursor=abc"),
		get("/v1/agent/leases?max=3&wait=1s"),
		get("/v1/projects//jobs/../x"),
		strings.Replace(post("/v1/projects/"+s.hostile.ID.String()+"/objects", "5\r\nhello\r\n0\r\n\r\n"), "Content-Length: 15", "Transfer-Encoding: chunked", 1),
	}
}

// spoil changes a request in one to four places.
func spoil(random *rand.Rand, request string) string {
	text := []byte(request)
	for range 1 + random.IntN(4) {
		at := random.IntN(len(text))
		switch random.IntN(5) {
		case 0:
			text[at] = byte(random.IntN(256))
		case 1:
			text = slices.Delete(text, at, min(len(text), at+1+random.IntN(8)))
		case 2:
			text = slices.Insert(text, at, []byte(`",{}[]:-1e999` + "\r\n\x00\xff")[random.IntN(14):]...)
		case 3:
			text = text[:max(1, at)]
		default:
			text = slices.Insert(text, at, text[at/2:at]...)
		}
		if len(text) == 0 {
			return "\r\n"
		}
	}
	return string(text)
}

// raw sends the bytes, says that nothing more comes, and returns the status of the first answer; 0: the server hung up.
func (s *scene) raw(ctx context.Context, request string) (int, error) {
	conn, err := dial(ctx, s.server.Address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		return 0, nil // it hung up while we wrote
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil // it hung up
	}
	return res.StatusCode, res.Body.Close()
}
