package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswerErrors(t *testing.T) {
	for _, c := range []struct {
		file  verifyFile
		error float64
		says  string
	}{
		{verifyFile{Exact: true}, ExactRisk, ""},
		{verifyFile{AnswerError: 0.5}, 0.5, ""},
		{verifyFile{AnswerError: 0.01, AssumeHostile: 0.2}, 0.01, ""},
		{verifyFile{AnswerError: 0.51}, 0, "answer_error"},
		{verifyFile{AnswerError: ExactRisk / 2}, 0, "answer_error"},
		{verifyFile{AnswerError: 0.01, Exact: true}, 0, "give one of them"},
		{verifyFile{Exact: true, None: true}, 0, "exactly one"},
	} {
		v, err := c.file.verification()
		if err == nil {
			err = v.check()
		}
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		require.InDelta(t, c.error, v.AnswerError, 0)
		require.Zero(t, v.TargetError)
	}
}
