package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

// answersOf reads answers written as "hand:answer[@platform]"; the known answer is "=", and none is "-".
func answersOf(text string) (answers []verify.ControlAnswer) {
	for _, word := range strings.Fields(text) {
		hand, said, _ := strings.Cut(word, ":")
		said, class, _ := strings.Cut(said, "@")
		a := verify.ControlAnswer{Hand: hand, Class: class}
		switch said {
		case "=":
			a.Known = true
		case "-":
		default:
			a.Digest = said
		}
		answers = append(answers, a)
	}
	return answers
}

func TestJudgeControl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers string
		state   verify.ControlState
		liars   string // whose answers they are
	}{
		"nobody has said anything":             {"", verify.ControlWaiting, ""},
		"the known answer":                     {"ada:=", verify.ControlRight, ""},
		"no answer":                            {"ada:-", verify.ControlWaiting, ""},
		"no answer, and then the known one":    {"ada:- bob:=", verify.ControlRight, ""},
		"another answer speaks against nobody": {"ada:x", verify.ControlWaiting, ""},
		"a second owner gives the known one":   {"ada:x bob:=", verify.ControlWrong, "ada"},
		"the same owner gives the known one":   {"ada:x ada:=", verify.ControlWaiting, ""},
		"two accomplices against one":          {"ada:x bob:x carl:=", verify.ControlWaiting, ""},
		"two accomplices against two":          {"ada:x bob:x carl:= dora:=", verify.ControlWrong, "ada bob"},
		"two agents of one owner are one":      {"ada:x ada:x bob:=", verify.ControlWrong, "ada ada"},
		"three owners agree on another one":    {"ada:x bob:x carl:x", verify.ControlVoided, ""},
		"even where one gave the known one":    {"ada:x bob:x carl:= dora:x", verify.ControlVoided, ""},
		"all say something else":               {"a:1 b:2 c:3 d:4 e:5 f:6 g:7", verify.ControlWaiting, ""},
		"until it is given up":                 {"a:1 b:2 c:3 d:4 e:5 f:6 g:7 h:8", verify.ControlUnsettled, ""},
		"eight agents of one owner":            {"a:x a:x a:x a:x a:x a:x a:x a:x", verify.ControlUnsettled, ""},
		"another platform":                     {"ada:x@arm bob:=@amd", verify.ControlWrong, ""},
		"another platform, one of its own":     {"ada:x@arm bob:=@amd carl:=@arm", verify.ControlWrong, "ada"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verify.JudgeControl(answersOf(c.answers))
			require.Equal(t, c.state, v.State)
			var liars []string
			for _, a := range v.Liars {
				liars = append(liars, a.Hand)
			}
			require.Equal(t, c.liars, strings.Join(liars, " "))
		})
	}
}
