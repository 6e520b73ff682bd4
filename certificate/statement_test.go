package certificate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const first13 = `[2,3,5,7,11,13,17,19,23,29,31,37,41]`

func verifyStatement(text string) (Shown, error) {
	s, err := ParseStatement([]byte(text))
	if err != nil {
		return Shown{}, err
	}
	return s.Verify()
}

// certified is a statement with a certificate in it.
func certified(t testing.TB, n, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return `{"n":"` + n + `","verdict":"prime","proof":"certificate","certificate":` + string(quoted) + `}`
}

func TestStatementsThatHold(t *testing.T) {
	for _, text := range []string{
		`{"n":"2","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`,
		`{"bases":` + first13 + `,"n":"18446744073709551629","proof":"miller-rabin-13","verdict":"prime"}`,
		`{"n":"3317044064679887385961813","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`, // the last prime below the bound
		`{"n":"4","verdict":"composite","proof":"factor","factor":"2"}`,
		`{"n":"` + psi12 + `","verdict":"composite","proof":"factor","factor":"399165290221"}`,
		`{"n":"` + psi12 + `","verdict":"composite","proof":"witness","witness":"41"}`,
		`{"n":"` + psi13 + `","verdict":"composite","proof":"witness","witness":"43"}`,
		certified(t, "170141183460469231731687303715884105727", string(golden(t, "bls5"))),
	} {
		s, err := verifyStatement(text)
		require.NoError(t, err, text)
		require.NotEmpty(t, s.Theorem)
	}
}

func TestStatementsThatDoNotHold(t *testing.T) {
	m127 := "170141183460469231731687303715884105727"
	for _, c := range []struct{ text, says string }{
		{`{"n":"` + psi12 + `","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`, "it does not pass"},
		{`{"n":"` + psi13 + `","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`, "decides nothing from " + psi13},
		{`{"n":"` + psi12 + `","verdict":"prime","proof":"miller-rabin-13","bases":[2,3,5,7,11,13,17,19,23,29,31,37]}`, "not the first 13 primes"},
		{`{"n":"` + psi12 + `","verdict":"composite","proof":"witness","witness":"37"}`, "strong probable prime to the base 37"},
		{`{"n":"` + psi13 + `","verdict":"composite","proof":"witness","witness":"41"}`, "strong probable prime"},
		{`{"n":"7","verdict":"composite","proof":"witness","witness":"3"}`, "strong probable prime"},
		{`{"n":"9","verdict":"composite","proof":"witness","witness":"9"}`, "between 1 and an odd number"},
		{`{"n":"8","verdict":"composite","proof":"witness","witness":"3"}`, "between 1 and an odd number"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"1"}`, "no factor"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"15"}`, "no factor"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"7"}`, "no factor"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"-3"}`, "no number above 0"},
		{`{"n":"1","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`, "does not pass"},
		{`{"n":"0","verdict":"composite","proof":"factor","factor":"2"}`, "no number above 0"},
		{`{"n":"15","verdict":"prime","proof":"factor","factor":"3"}`, "none that is known"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"3","Factor":"5"}`, "each once"},
		{`{"n":"15","N":"7","verdict":"composite","proof":"factor","factor":"3"}`, "each once"},
		{`{"n":"15","n":"15","verdict":"composite","proof":"factor","factor":"3"}`, "each once"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"3","witness":"2"}`, "each once"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"3","why":"x"}`, "unknown field"},
		{`{"n":"15","verdict":"composite","proof":"factor","factor":"3"} {}`, "something follows"},
		{`[]`, "reading a statement"},
		{`{"n":"` + strings.Repeat("9", MaxDigits+1) + `","verdict":"composite","proof":"factor","factor":"3"}`, "more than 1500 digits"},
		{certified(t, psi13, claim(psi13)), "no step proves"},
		{certified(t, psi13, string(golden(t, "bls5"))), "the certificate is about"},
		{certified(t, m127, strings.Replace(string(golden(t, "bls5")), "5419", "5417", 1)), "line 7, BLS5 step"},
	} {
		_, err := verifyStatement(c.text)
		require.ErrorContains(t, err, c.says, c.text)
	}
}

func FuzzStatement(f *testing.F) {
	f.Add([]byte(`{"n":"2","verdict":"prime","proof":"miller-rabin-13","bases":` + first13 + `}`))
	f.Add([]byte(`{"n":"15","verdict":"composite","proof":"factor","factor":"3"}`))
	f.Add([]byte(`{"n":"9","verdict":"composite","proof":"witness","witness":"2"}`))
	f.Add([]byte(certified(f, "170141183460469231731687303715884105727", string(golden(f, "bls5")))))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStatement(text)
		if err != nil || len(text) > 2000 {
			return
		}
		if shown, err := s.Verify(); err == nil {
			n, err := number("n", s.N)
			require.NoError(t, err)
			require.Equal(t, n.ProbablyPrime(20), shown.Verdict == Prime, s.N)
		}
	})
}
