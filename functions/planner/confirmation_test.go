package planner

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfirmation(t *testing.T) {
	for _, tc := range []struct {
		expression, output string
		matters            bool
		wrong              string // what the error says; empty: none
	}{
		{"output.longest > 500", `{"longest":501}`, true, ""},
		{"output.longest > 500", `{"longest":500}`, false, ""},
		{"output.longest > 500", `{"tested":1}`, false, "has(output.x) tells whether a field is there"},
		{"output.longest > 500", `{"longest":18446744073709551617}`, false, "in output an integer beyond 64 bits is a decimal string"},
		{"has(output.find)", `{"find":null}`, true, ""},
		{"size(output) > 0", `[]`, false, ""},
		{"output", `true`, true, ""},
		{"output", `7`, false, "gave int, not bool"},
		{"output.exists(x, x == 3)", `[1,2,3]`, true, ""},
		{"output.all(x, output.all(y, output.all(z, x + y + z >= 0)))", "[" + strings.Repeat("1,", 100) + "1]", false, "let the function prepare the values"},
		{"output[3] == 1", `[1]`, false, "size(x) tells how many there are"},
		{"output != null", strings.Repeat(" ", MaxConfirmedOutput-4) + "null", false, ""},
		{"output != null", strings.Repeat(" ", MaxConfirmedOutput-3) + "null", false, "262145 bytes"},
		{"output != null", `{`, false, "cannot be read"},
		{"false", `{"longest":501}`, false, ""},
	} {
		c, err := CompileConfirmation(tc.expression)
		require.NoError(t, err, tc.expression)
		matters, err := c.Matters(context.Background(), []byte(tc.output))
		if tc.wrong != "" {
			require.ErrorContains(t, err, tc.wrong, tc.expression)
			continue
		}
		require.NoError(t, err, tc.expression)
		require.Equal(t, tc.matters, matters, tc.expression)
	}
}

func TestConfirmationsAreRefusedWithTheirPlace(t *testing.T) {
	for expression, wrong := range map[string]string{
		"aggregate.value > 1": "confirm, line 1, column 1: undeclared reference to 'aggregate'",
		"output.a &&\n(":      "confirm, line 2, column 2",
		"1":                   "confirm: the expression gives int, not bool",
		"":                    "confirm: the expression is empty",
		strings.Repeat("(", MaxNesting+1) + "true" + strings.Repeat(")", MaxNesting+1): "let the function prepare the values",
		"true" + strings.Repeat(" ", MaxExpressionBytes):                               "4100 bytes",
	} {
		_, err := CompileConfirmation(expression)
		require.ErrorContains(t, err, wrong, expression)
	}
	_, err := CompileConfirmation("true" + strings.Repeat(" ", MaxExpressionBytes-4))
	require.NoError(t, err)
}
