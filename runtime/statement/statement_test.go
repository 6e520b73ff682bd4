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
	require.Equal(t, "ostraka-bundle/1\n01890a5d-ac96-774b-bcce-b302099a8057\nbpsw\nabcd\n", string(Bundle(lease, "bpsw", "abcd")))
	require.Equal(t, "ostraka-signing-key/1\n01890a5d-ac96-774b-bcce-b302099a8057\n2\n0102\n", string(SigningKey(lease, 2, []byte{1, 2})))
	require.Equal(t, "ostraka-eula/1\n0102\n2026-11\nabcd\n2026-05-04T03:02:01Z\n",
		string(Acceptance([]byte{1, 2}, "2026-11", "abcd", time.Date(2026, 5, 4, 5, 2, 1, 999, time.FixedZone("", 7200)))))
}

func TestOutcome(t *testing.T) {
	require.Equal(t, "d1", Outcome("ok", "d1", "x", "y"), "an ok result votes with its output")
	require.Equal(t, Outcome("error", "", "ValueError", "m"), Outcome("error", "ignored", "ValueError", "m"))
	require.NotEqual(t, Outcome("error", "", "ValueError", "m"), Outcome("error", "", "ValueError", "n"))
	require.Equal(t, Outcome("timeout", "", "", ""), Outcome("timeout", "z", "T", "m"))
	require.NotEqual(t, Outcome("timeout", "", "", ""), Outcome("killed", "", "", ""))
}
