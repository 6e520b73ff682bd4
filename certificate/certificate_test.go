package certificate

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	psi12 = "318665857834031151167461"  // 399165290221 * 798330580441, passes the first 12 prime bases
	psi13 = "3317044064679887385961981" // 1287836182261 * 2575672364521, passes the first 13
)

// golden reads a certificate that Math::Prime::Util made, or verified where it makes none of the type.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	return text
}

func verifyText(text string) (Proof, error) {
	c, err := Parse([]byte(text), 1)
	if err != nil {
		return Proof{}, err
	}
	return c.Verify()
}

// claim is a certificate for n with these lines.
func claim(n string, lines ...string) string {
	return Header + "\nVersion 1.0\n\nProof for:\nN " + n + "\n\n" + strings.Join(lines, "\n") + "\n"
}

func TestEveryTypeOfStep(t *testing.T) {
	for name, want := range map[string]struct {
		types string
		small int
	}{
		"small":       {"Small", 0},
		"lucas":       {"Lucas", 12},
		"bls3":        {"BLS3 BLS3 BLS3 BLS3 BLS3", 1},
		"bls5":        {"BLS5", 6},
		"bls15":       {"BLS15 ECPP BLS3", 1},
		"pocklington": {"Pocklington Pocklington Pocklington Pocklington", 1},
		"ecpp":        {"ECPP ECPP ECPP ECPP ECPP BLS3", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := verifyText(string(golden(t, name)))
			require.NoError(t, err)
			var got []string
			for _, s := range p.Steps {
				got = append(got, s.Type)
				require.NotEmpty(t, s.Theorem)
			}
			require.Equal(t, want.types, strings.Join(got, " "))
			require.Len(t, p.Small, want.small)
		})
	}
}

// Steps stand in any order, and so do the fields of one.
func TestOrderDoesNotMatter(t *testing.T) {
	parts := strings.Split(string(golden(t, "ecpp")), "Type ")
	text := parts[0]
	for i := len(parts) - 1; i > 0; i-- {
		lines := strings.Split(strings.TrimSpace(parts[i]), "\n")
		text += "Type " + lines[0] + "\n"
		for j := len(lines) - 1; j > 0; j-- {
			text += lines[j] + "\n"
		}
	}
	_, err := verifyText(text)
	require.NoError(t, err)
}

// base reports whether a line names what may be chosen in more than one way: a certificate with another choice may be right.
func base(line string) bool {
	for _, name := range []string{"A ", "A[", "LP ", "LQ "} {
		if strings.HasPrefix(line, name) {
			return true
		}
	}
	return false
}

func TestEveryChangedDigitIsRefused(t *testing.T) {
	for _, name := range []string{"small", "lucas", "bls3", "bls5", "bls15", "pocklington", "ecpp"} {
		text := golden(t, name)
		right, err := verifyText(string(text))
		require.NoError(t, err)
		line, tried := 0, 0
		lines := strings.Split(string(text), "\n")
		for i, c := range text {
			if c == '\n' {
				line++
			}
			here := lines[line]
			if c < '0' || c > '9' || strings.HasPrefix(here, "#") {
				continue
			}
			if tried++; len(text) > 1000 && tried%29 != 0 {
				continue // the types of its steps are in shorter ones, of which every digit is tried
			}
			changed := bytes.Clone(text)
			changed[i] = '0' + (c-'0'+1)%10
			p, err := verifyText(string(changed))
			if err == nil && base(here) {
				require.Equal(t, right.N, p.N)
				continue
			}
			require.Error(t, err, "%s, line %d: %s", name, line+1, here)
		}
	}
}

func TestEveryMissingAndDoubledLineIsRefused(t *testing.T) {
	free := func(line string) bool { // without it the same is said
		return line == "" || line[0] == '#' || strings.HasPrefix(line, "Version") || strings.HasPrefix(line, "Base")
	}
	for _, name := range []string{"small", "lucas", "bls3", "bls5", "bls15", "pocklington"} {
		lines := strings.Split(string(golden(t, name)), "\n")
		for i, line := range lines {
			without := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "\n")
			doubled := strings.Join(append(append([]string{}, lines[:i+1]...), lines[i:]...), "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			_, err := verifyText(doubled)
			require.Error(t, err, "%s with %q twice", name, line)
			if _, err = verifyText(without); !free(line) && !strings.HasPrefix(line, "A[") {
				require.Error(t, err, "%s without %q", name, line)
			}
		}
	}
}

// A step that holds by itself proves nothing when what it rests on is composite, however well that hides.
func TestTraps(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{claim(psi12), "line 1: no step proves " + psi12},
		{claim(psi13), "no step proves " + psi13},
		{claim(psi12, "Type Small", "N "+psi12), "not below 2^64"},
		{claim(psi13, "Type Small", "N "+psi13), "not below 2^64"},
		{claim("3825123056546413051", "Type Small", "N 3825123056546413051"), "N is not prime"}, // passes the first 9 prime bases
		{claim("3825123056546413051"), "is not prime"},
		{claim("2047"), "2047, the number to prove, is not prime"},
		// 48 psi13 + 1 and 108 psi12 + 1 are prime, and these steps hold; 2 and the base are right.
		{claim("159218115104634594526175089", "Type BLS3", "N 159218115104634594526175089", "Q "+psi13, "A 7"), "no step proves " + psi13 + ", which the BLS3 step"},
		{claim("159218115104634594526175089", "Type Pocklington", "N 159218115104634594526175089", "Q "+psi13, "A 7"), "no step proves " + psi13},
		{claim("34415912646075364326085789", "Type BLS3", "N 34415912646075364326085789", "Q "+psi12, "A 2", "Type Small", "N "+psi12), "not below 2^64"},
		{claim("159218115104634594526175089", "Type BLS5", "N 159218115104634594526175089", "Q[1] "+psi13, "A[0] 7", "A[1] 7", "----"), "no step proves " + psi13},
		{claim("1"), "is not prime"},
		{claim("561", "Type Lucas", "N 561", "Q[1] 2", "Q[2] 5", "Q[3] 7", "A 2"), "mod N is 1"},
		{claim("341", "Type Pocklington", "N 341", "Q 17", "A 2"), "M = (N-1)/Q is not less than Q"},
		{claim("49", "Type Lucas", "N 49", "Q[1] 2", "Q[2] 3", "A 18"), "is 1"},
	} {
		_, err := verifyText(c.text)
		require.ErrorContains(t, err, c.says, c.text)
	}
}

func TestWhatIsNoCertificate(t *testing.T) {
	big := "1" + strings.Repeat("0", MaxDigits)
	for _, c := range []struct{ text, says string }{
		{"", "line 1: this is no certificate"},
		{"N 7\n", "line 1: this is no certificate"},
		{"[PRIMO - Primality Certificate]\n", "is expected"},
		{Header + "\n", "ends before"},
		{Header + "\nProof for:\n", "ends before"},
		{Header + "\nVersion 2.0\n", "line 2: \"Version 2.0\": version 1.0"},
		{Header + "\nBase 16\n", "to the base 10"},
		{Header + "\nProof for:\nQ 7\n", "comes the number"},
		{Header + "\nProof for:\nN -7\n", "comes the number"},
		{Header + "\nProof for:\nN 07\n", "plain decimal digits"},
		{Header + "\nProof for:\nN 7 8\n", "plain decimal digits"},
		{Header + "\nType Small\nN 7\n", "a step comes before the number"},
		{Header + "\nHello\nProof for:\nN 7\n", "\"Proof for:\" is expected"},
		{claim("7", "N 7"), "belongs to no step"},
		{claim("7", "Type ECPP4", "N 7"), `the type of step "ECPP4" is not verified here: there are BLS15, BLS3, BLS5, ECPP, Lucas, Pocklington, Small`},
		{claim("7", "Type small", "N 7"), "is not verified here"},
		{claim("7", "Type Small", "Q 7"), "a Small step has no Q"},
		{claim("7", "Type Small"), "the Small step lacks N"},
		{claim("7", "Type Small", "N 1"), "a prime is greater than 1"},
		{claim("7", "Type Small", "N 7", "N 7"), "N stands in the step already, on line 8"},
		{claim("7", "Type Small", "N 7", "Type Small", "N 7"), "proves that number already"},
		{claim("7", "Type Small", "N 7", "----"), "a line of dashes ends a BLS5 step"},
		{claim("7", "Type BLS5", "N 7", "Q[2] 3", "----"), "Q[2] does not fit"},
		{claim("7", "Type BLS5", "N 7", "A[1] 3", "----"), "A[1] does not fit"},
		{claim("7", "Type BLS5", "N 7"), "does not end with a line of dashes"},
		{claim("7", "Type Lucas", "N 7", "Q[1] 2"), "lacks A"},
		{claim("7", "Type Lucas", "N 7", "Q[1] 2", "Q[2] 2", "A 3"), "named twice"},
		{claim("7", "Type Lucas", "N 7", "Q[1] 2", "A 3"), "no factor covers"},
		{claim("7", "Type Lucas", "N 7", "Q[1] 2", "Q[2] 5", "A 3"), "line 7, Lucas step for 7: the factor 5 does not divide N-1"},
		{claim("7", "Type Lucas", "N 7", "Q[1] -2", "A 3"), "plain decimal digits"},
		{claim(big), "more than 1500 digits"},
		{strings.Repeat("#\n", MaxBytes/2+1), "at most 2097152 are read"},
	} {
		_, err := verifyText(c.text)
		require.ErrorContains(t, err, c.says, "%.200s", c.text)
	}
}

func TestLimits(t *testing.T) {
	steps := make([]string, 0, 2*MaxSteps+2)
	for n, found := int64(3), 0; found <= MaxSteps; n += 2 {
		if big.NewInt(n).ProbablyPrime(0) {
			steps = append(steps, "Type Small", "N "+strconv.FormatInt(n, 10))
			found++
		}
	}
	_, err := verifyText(claim("7", steps[:2*MaxSteps]...))
	require.NoError(t, err, "as many steps as there may be")
	_, err = verifyText(claim("7", steps...))
	require.ErrorContains(t, err, "more than 2000 steps")

	factors := []string{"Type BLS5", "N 7"}
	for i := range MaxFactors + 1 {
		factors = append(factors, "Q["+strconv.Itoa(i+1)+"] "+strconv.Itoa(i+3))
	}
	_, err = verifyText(claim("7", append(factors[:len(factors)-1:len(factors)-1], "----")...))
	require.ErrorContains(t, err, "the factor 4 does not divide", "as many factors as there may be: they are looked at")
	_, err = verifyText(claim("7", append(factors, "----")...))
	require.ErrorContains(t, err, "rests on 601 factors")

	digits := strings.Repeat("7", MaxDigits)
	_, err = verifyText(claim(digits))
	require.ErrorContains(t, err, "no step proves", "as many digits as there may be")
}

// What is hostile ends by work that is counted, not by a clock.
func TestWorkIsBounded(t *testing.T) {
	c, err := Parse(golden(t, "ecpp"), 1)
	require.NoError(t, err)
	enough := &meter{left: MaxWork}
	_, err = c.verify(enough)
	require.NoError(t, err)
	used := MaxWork - enough.left
	for _, left := range []int64{0, 1, used / 2, used - 1} {
		_, err = c.verify(&meter{left: left})
		require.ErrorIs(t, err, ErrTooMuchWork)
	}
	_, err = c.verify(&meter{left: used})
	require.NoError(t, err)
}

func TestSplit(t *testing.T) {
	small := string(golden(t, "small"))
	parts, lines := Split([]byte("said before\n" + small + claim("7")))
	require.Equal(t, []int{2, 2 + strings.Count(small, "\n")}, lines)
	require.Equal(t, small, string(parts[0]))
	require.Equal(t, claim("7"), string(parts[1]))
	parts, lines = Split([]byte("nothing"))
	require.Empty(t, parts)
	require.Empty(t, lines)
}

func TestMillerRabinDecidesBelowItsBound(t *testing.T) {
	m := &meter{left: MaxWork}
	for n := range int64(3000) {
		prime, err := m.isSmallPrime(big.NewInt(n))
		require.NoError(t, err)
		require.Equal(t, big.NewInt(n).ProbablyPrime(0), prime, n)
	}
}

// FuzzVerify: whatever is accepted is a prime, and nothing panics.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"small", "lucas", "bls3", "bls5", "bls15", "pocklington", "ecpp"} {
		f.Add(golden(f, name))
	}
	f.Add([]byte(claim(psi13, "Type BLS5", "N "+psi13, "Q[1] 5", "A[0] 2", "----")))
	f.Add([]byte(claim("11", "Type ECPP", "N 11", "A 1", "B 6", "M 13", "Q 13", "X 2", "Y 4")))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text, 1)
		if err != nil {
			return
		}
		if _, err := c.verify(&meter{left: 1 << 24}); err == nil {
			require.True(t, c.N.ProbablyPrime(20), "%s was accepted", c.N)
		}
	})
}
