package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswerRisk(t *testing.T) {
	t.Parallel()
	for risk, want := range map[float64]string{
		0:     "every result is right, as far as the server is",
		1e-6:  "all results are right but for a probability of at most 1e-06",
		0.2:   "all results are right but for a probability of at most 0.2",
		0.949: "all results are right but for a probability of at most 0.95",
		0.95:  "some result may be wrong: --exact or --answer-error says with what probability",
		0.999: "some result may be wrong: --exact or --answer-error says with what probability",
		1:     "some result may be wrong: --exact or --answer-error says with what probability",
	} {
		require.Equal(t, want, answerRiskText(risk))
	}
}
