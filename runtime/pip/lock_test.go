package pip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func digest(c string) string { return strings.Repeat(c, 64) }

func full() Lock {
	return Lock{
		Requirements: digest("1"), Python: "3.14.6 linux/amd64 sha256:" + digest("2"), Runtime: digest("3"),
		Libraries: []Library{{Name: "libc.so.6", SHA256: digest("4")}}, Options: []string{"--extra-index-url https://example.org/simple"},
		Packages: []Package{
			{Name: "direct", Version: "1.0", URL: "https://example.org/direct-1.0-py3-none-any.whl", SHA256: digest("5")},
			{Name: "numpy", Version: "2.3.1+local", SHA256: digest("6")},
		},
	}
}

func TestLockIsReadAsItWasWritten(t *testing.T) {
	l := full()
	again, err := ParseLock([]byte(l.String()))
	require.NoError(t, err)
	require.Equal(t, l, again)
	require.Contains(t, l.String(), "numpy==2.3.1+local --hash=sha256:"+digest("6")+"\n")
}

func TestWhatIsNoLock(t *testing.T) {
	l := full()
	good := l.String()
	for name, text := range map[string]string{
		"empty":          "",
		"no digest":      good + "six==1.0\n",
		"a setting":      good + "--pre\n",
		"other order":    strings.Replace(good, lockFormat+"\n", "", 1) + lockFormat + "\n",
		"other format":   strings.Replace(good, "# format 1", "# format 2", 1),
		"no line feed":   strings.TrimSuffix(good, "\n"),
		"another remark": good + "# mine\n",
		"too long":       good + strings.Repeat("#", MaxLockBytes),
	} {
		_, err := ParseLock([]byte(text))
		require.Error(t, err, name)
	}
}

func TestOptionsAreTakenOver(t *testing.T) {
	text := "# wheels of ours\n-i https://example.org/simple\n--index-url=https://example.org/simple\nnumpy>=2\n  --find-links ./wheels\n--pre\n-r more.txt\n"
	require.Equal(t, []string{"-i https://example.org/simple", "--index-url=https://example.org/simple", "--find-links ./wheels"}, OptionsOf([]byte(text)))
}

func TestAnotherFileOfTheSameVersionIsRefused(t *testing.T) {
	earlier, l := full(), full()
	l.Packages[1].Version = "2.4"
	l.Packages[1].SHA256 = digest("7")
	require.NoError(t, l.CheckAgainst(&earlier), "another version is another file")
	l.Packages[1].Version = earlier.Packages[1].Version
	require.ErrorIs(t, l.CheckAgainst(&earlier), ErrHash)
	require.Empty(t, l.OtherLibraries(&earlier))
	l.Libraries = []Library{{Name: "libc.so.6", SHA256: digest("8")}}
	require.Equal(t, []string{"libc.so.6"}, l.OtherLibraries(&earlier))
}

func FuzzParseLock(f *testing.F) {
	l := full()
	f.Add([]byte(l.String()))
	f.Add([]byte(lockTitle + "\n" + lockFormat + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLock(text)
		if err == nil {
			require.Equal(t, string(text), l.String(), "what parses prints back")
		}
	})
}
