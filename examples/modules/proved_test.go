package modules_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/certificate"
	"github.com/ostraka/ostraka/wasm"
)

const (
	psi12   = "318665857834031151167461"  // composite, passes the first 12 prime bases
	psi13   = "3317044064679887385961981" // composite, passes the first 13
	first13 = `[2,3,5,7,11,13,17,19,23,29,31,37,41]`
)

// number is what a shard was asked, and what came back.
type number struct{ input, result string }

// judgeNumbers has the validator proved judge each result alone, as a job with certificates does.
func judgeNumbers(t *testing.T, pool *wasm.Pool, list []number) []wasm.Judgement {
	t.Helper()
	v := wasm.Validation{Use: wasm.Use{Pool: pool, Project: "p", Job: "j", Module: wasm.FromBytes(committed(t, "proved"))}}
	var all []wasm.Judgement
	for from := 0; from < len(list); from += wasm.MaxBatch {
		var units []wasm.Unit
		for i, n := range list[from:min(from+wasm.MaxBatch, len(list))] {
			units = append(units, wasm.Unit{
				ID: fmt.Sprint(from + i), Input: json.RawMessage(n.input),
				Results: []wasm.UnitResult{{ID: "r1", Attempt: 1, Result: json.RawMessage(n.result)}},
			})
		}
		judged, _, err := v.Judge(t.Context(), wasm.Each(units))
		require.NoError(t, err)
		all = append(all, judged...)
	}
	return all
}

func certified(t *testing.T, n, text string) number {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return number{`"` + n + `"`, `{"certificate":` + string(quoted) + `,"n":"` + n + `","proof":"certificate","verdict":"prime"}`}
}

// made reads a certificate that another program made.
func made(t *testing.T, name string) (n, text string) {
	t.Helper()
	file, err := os.ReadFile("../../certificate/testdata/" + name + ".txt")
	require.NoError(t, err)
	c, err := certificate.Parse(file, 1)
	require.NoError(t, err)
	return c.N.String(), string(file)
}

func TestProvedAcceptsWhatProvesItself(t *testing.T) {
	list := []number{
		{`"2"`, `{"bases":` + first13 + `,"n":"2","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"18446744073709551629"`, `{"bases":` + first13 + `,"n":"18446744073709551629","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"3317044064679887385961813"`, `{"bases":` + first13 + `,"n":"3317044064679887385961813","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"4"`, `{"factor":"2","n":"4","proof":"factor","verdict":"composite"}`},
		{`"` + psi12 + `"`, `{"n":"` + psi12 + `","proof":"witness","verdict":"composite","witness":"41"}`},
		{`"` + psi13 + `"`, `{"n":"` + psi13 + `","proof":"witness","verdict":"composite","witness":"43"}`},
		{`"` + psi13 + `"`, `{"factor":"2575672364521","n":"` + psi13 + `","proof":"factor","verdict":"composite"}`},
		{`{"form":"pratt","n":"15"}`, `{"factor":"3","n":"15","proof":"factor","verdict":"composite"}`},
	}
	for _, name := range []string{"small", "lucas", "bls3", "bls5", "pocklington"} {
		n, text := made(t, name)
		list = append(list, certified(t, n, text))
	}
	for i, j := range judgeNumbers(t, newPool(t), list) {
		require.Equal(t, wasm.VerdictAccept, j.Verdict, "%s: %s", list[i].result, j.Reason)
	}
}

func TestProvedRefusesEverythingElse(t *testing.T) {
	const head = certificate.Header + "\nVersion 1.0\n\nProof for:\nN "
	m127, text := made(t, "bls5")
	ecpp, chain := made(t, "ecpp")
	const k48 = "159218115104634594526175089" // 48 psi13 + 1, a prime
	list := []number{
		{`"` + psi12 + `"`, `{"bases":` + first13 + `,"n":"` + psi12 + `","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"` + psi13 + `"`, `{"bases":` + first13 + `,"n":"` + psi13 + `","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"` + psi12 + `"`, `{"bases":[2,3,5,7,11,13,17,19,23,29,31,37],"n":"` + psi12 + `","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"` + psi12 + `"`, `{"n":"` + psi12 + `","proof":"witness","verdict":"composite","witness":"37"}`},
		{`"7"`, `{"n":"7","proof":"witness","verdict":"composite","witness":"3"}`},
		{`"8"`, `{"n":"8","proof":"witness","verdict":"composite","witness":"3"}`},
		{`"15"`, `{"factor":"1","n":"15","proof":"factor","verdict":"composite"}`},
		{`"15"`, `{"factor":"15","n":"15","proof":"factor","verdict":"composite"}`},
		{`"15"`, `{"factor":"0","n":"15","proof":"factor","verdict":"composite"}`},
		{`"15"`, `{"factor":"7","n":"15","proof":"factor","verdict":"composite"}`},
		{`"17"`, `{"factor":"3","n":"15","proof":"factor","verdict":"composite"}`}, // right, and not what was asked
		{`null`, `{"factor":"3","n":"15","proof":"factor","verdict":"composite"}`},
		{`"15"`, `{"factor":"3","n":"15","proof":"factor","verdict":"prime"}`},
		{`"15"`, `{"factor":"3","n":"15","proof":"factor","verdict":"composite","why":"so"}`},
		{`"15"`, `{"factor":"3","n":"15","n":"15","proof":"factor","verdict":"composite"}`},
		{`"15"`, `{"factor":"3","n":"15","proof":"factor"}`},
		{`"1"`, `{"bases":` + first13 + `,"n":"1","proof":"miller-rabin-13","verdict":"prime"}`},
		{`"0"`, `{"factor":"2","n":"0","proof":"factor","verdict":"composite"}`},
		{`"15"`, `[]`},
		{`"15"`, `"composite"`},
		{`"15"`, `null`},
		{`"15"`, `{"n":"15","proof":"\\","verdict":"\""}`},
		certified(t, ecpp, chain), // right, and of a type that it does not check
		certified(t, m127, ""),
		certified(t, m127, strings.Replace(text, "5419", "5417", 1)),
		certified(t, m127, strings.Replace(text, "----", "", 1)),
		certified(t, psi13, head+psi13+"\n"),
		certified(t, psi13, head+psi13+"\n\nType Small\nN "+psi13+"\n"),
		certified(t, k48, head+k48+"\n\nType BLS3\nN "+k48+"\nQ "+psi13+"\nA 7\n"),
		certified(t, k48, head+k48+"\n\nType BLS5\nN "+k48+"\nQ[1] "+psi13+"\nA[0] 7\nA[1] 7\n----\n"),
		certified(t, k48, text),
		certified(t, "9"+strings.Repeat("0", 308), head+"7\n"),
	}
	for i, j := range judgeNumbers(t, newPool(t), list) {
		require.Equal(t, wasm.VerdictReject, j.Verdict, "%s", list[i].result)
		require.NotEmpty(t, j.Reason)
	}
}

// Whatever is changed in a result, the validator and the package certificate, which have no line in common, think the same of it.
func TestProvedAgreesWithTheOtherVerifier(t *testing.T) {
	const onePlus = "5070602401120443474617022021541" // 2(2^61-1)k - 1
	draw := rand.New(rand.NewPCG(1, 2))
	var list []number
	for _, name := range []string{"small", "lucas", "bls3", "bls5", "bls15", "pocklington"} {
		n, text := onePlus, certificate.Header+"\nProof for:\nN "+onePlus+"\n\nType BLS15\nN "+onePlus+"\nQ 2305843009213693951\nLP 1\nLQ -24\n"
		if name != "bls15" {
			n, text = made(t, name)
		}
		list = append(list, certified(t, n, text))
		for range 300 {
			list = append(list, certified(t, n, mutate(draw, text)))
		}
	}
	accepted := 0
	for i, j := range judgeNumbers(t, newPool(t), list) {
		s, err := certificate.ParseStatement([]byte(list[i].result))
		if err == nil {
			_, err = s.Verify()
		}
		require.Equal(t, err == nil, j.Verdict == wasm.VerdictAccept, "%s\n%v\n%s", list[i].result, err, j.Reason)
		if err == nil {
			accepted++
		}
	}
	require.Greater(t, accepted, 6, "some changes, as of white space, leave a certificate right")
}

// mutate changes a digit, a byte or a line.
func mutate(draw *rand.Rand, text string) string {
	b := []byte(text)
	switch draw.IntN(4) {
	case 0: // a digit
		for {
			if i := draw.IntN(len(b)); b[i] >= '0' && b[i] <= '9' {
				b[i] = byte('0' + draw.IntN(10))
				return string(b)
			}
		}
	case 1: // a byte
		b[draw.IntN(len(b))] = byte(' ' + draw.IntN(95))
		return string(b)
	}
	lines := strings.SplitAfter(text, "\n")
	i, k := draw.IntN(len(lines)), draw.IntN(len(lines))
	if draw.IntN(2) == 0 {
		lines[i], lines[k] = lines[k], lines[i]
	} else {
		lines = append(lines[:i:i], lines[i+1:]...)
	}
	return strings.Join(lines, "")
}
