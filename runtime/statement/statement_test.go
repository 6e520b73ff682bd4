package statement

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The statements are a format that signatures outlive: this test holds their bytes.
func TestBytesAreFrozen(t *testing.T) {
	lease := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	require.Equal(t, "ostraka-results/1\n01890a5d-ac96-774b-bcce-b302099a8057\n3 ok aa\n12 timeout bb\n",
		string(Results(lease, []Line{{3, "ok", "aa"}, {12, "timeout", "bb"}})))
	require.Equal(t, "ostraka-enrolment/1\n0102\n9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
		string(Enrolment([]byte{1, 2}, "test")))
	require.Equal(t, "ostraka-enrolment/2\n0102\n9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\nhttps://ostraka.example\nabc\n2026-05-04T03:02:01Z\n",
		string(EnrolmentAnew([]byte{1, 2}, "test", "https://ostraka.example", "abc", time.Date(2026, 5, 4, 5, 2, 1, 999, time.FixedZone("", 7200)))))
	require.Equal(t, "ostraka-bundle/1\n01890a5d-ac96-774b-bcce-b302099a8057\nbpsw\nabcd\n", string(Bundle(lease, "bpsw", "abcd")))
	require.Equal(t, "ostraka-signing-key/1\n01890a5d-ac96-774b-bcce-b302099a8057\n2\n0102\n", string(SigningKey(lease, 2, []byte{1, 2})))
	require.Equal(t, "ostraka-eula/1\n0102\n2026-11\nabcd\n2026-05-04T03:02:01Z\n",
		string(Acceptance([]byte{1, 2}, "2026-11", "abcd", time.Date(2026, 5, 4, 5, 2, 1, 999, time.FixedZone("", 7200)))))
}

func TestOrigin(t *testing.T) {
	for of, want := range map[string]string{
		"https://Ostraka.Example/": "https://ostraka.example", "HTTPS://x:443": "https://x", "https://x:80/a/b?c": "https://x:80", "http://x:80": "http://x",
		"http://127.0.0.1:8470": "http://127.0.0.1:8470", "https://[2001:DB8::1]:443": "https://[2001:db8::1]", "": "", "x:1": "", "://": "", "https://": "",
	} {
		require.Equal(t, want, Origin(of), of)
	}
}

func TestOutcome(t *testing.T) {
	outcome := func(status, digest, kind, message string, files ...File) string {
		return Claim{Status: status, OutputDigest: digest, ExceptionType: kind, ExceptionMessage: message, Files: files}.Outcome()
	}
	require.Equal(t, "d1", outcome("ok", "d1", "x", "y"), "an ok result votes with its output")
	require.Equal(t, outcome("error", "", "ValueError", "m"), outcome("error", "ignored", "ValueError", "m"))
	require.NotEqual(t, outcome("error", "", "ValueError", "m"), outcome("error", "", "ValueError", "n"))
	require.Equal(t, outcome("timeout", "", "", ""), outcome("timeout", "z", "T", "m"))
	require.NotEqual(t, outcome("timeout", "", "", ""), outcome("killed", "", "", ""))
	a, b := File{"a", 1, "f1"}, File{"b", 1, "f2"}
	require.Equal(t, outcome("ok", "d1", "", "", a, b), outcome("ok", "d1", "", "", b, a), "in any order")
	for _, other := range []string{
		"d1", outcome("ok", "d2", "", "", a, b), outcome("ok", "d1", "", "", a), outcome("ok", "d1", "", "", a, File{"b", 2, "f2"}),
		outcome("ok", "d1", "", "", a, File{"c", 1, "f2"}), outcome("ok", "d1", "", "", a, File{"b", 1, "f3"}),
	} {
		require.NotEqual(t, outcome("ok", "d1", "", "", a, b), other, "it votes with its artifacts")
	}
	printed := func(output, stdout string, files ...File) string {
		return Claim{Status: "ok", OutputDigest: output, StdoutDigest: stdout, Files: files}.Outcome()
	}
	require.Equal(t, "d1", printed("d1", ""))
	require.Equal(t, digest("ok\nd1\nstdout s1\nf1 1 a\n"), printed("d1", "s1", a), "this is what is signed")
	for _, other := range []string{"d1", printed("d1", "s2"), printed("d2", "s1"), printed("d1", "s1", a)} {
		require.NotEqual(t, printed("d1", "s1"), other, "a script votes with all that it prints")
	}
	require.Equal(t, outcome("error", "", "E", "m"), Claim{Status: "error", StdoutDigest: "s", ExceptionType: "E", ExceptionMessage: "m"}.Outcome())
}
