package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func TestAllFaultsOfARequestAreNamed(t *testing.T) {
	faults := func(n int) (list []client.ProblemField) {
		for i := range n {
			list = append(list, client.ProblemField{Location: fmt.Sprintf("body.f%d", i), Message: "is wrong"})
		}
		return list
	}
	for name, tc := range map[string]struct {
		problem client.Problem
		status  int
		want    string
	}{
		"one":            {client.Problem{Detail: "body.f0: is wrong", Errors: faults(1)}, http.StatusUnprocessableEntity, "body.f0: is wrong"},
		"three":          {client.Problem{Detail: "body.f0: is wrong (and 2 more)", Errors: faults(3)}, http.StatusUnprocessableEntity, "body.f0: is wrong; body.f1: is wrong; body.f2: is wrong"},
		"not all listed": {client.Problem{Detail: "body.f0: is wrong (and 24 more)", Errors: faults(2)}, http.StatusUnprocessableEntity, "body.f0: is wrong; body.f1: is wrong (and 23 more)"},
		"no place":       {client.Problem{Detail: "it is wrong (and 1 more)", Errors: []client.ProblemField{{Message: "it is wrong"}, {Message: "so is this"}}}, http.StatusBadRequest, "it is wrong; so is this"},
		"the server's":   {client.Problem{Detail: "no (and 1 more)", Errors: faults(2), RequestID: "7"}, http.StatusInternalServerError, "no (and 1 more) (request 7)"},
	} {
		t.Run(name, func(t *testing.T) {
			err := problemText(&answer.Error{Problem: tc.problem, HTTPStatus: tc.status})
			require.EqualError(t, err, tc.want)
			var problem *answer.Error
			require.ErrorAs(t, err, &problem)
		})
	}
}
