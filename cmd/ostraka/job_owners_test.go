package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestTheSharesOfOwnersSayOfWhatTheyAre(t *testing.T) {
	owners := &client.OwnerShares{Owners: 3, Results: 40, Stated: 0.1, Above: true, Largest: []client.OwnerShare{{Owner: "ada", Share: 0.625}, {Owner: "liar", Share: 0.25}}}
	require.Empty(t, ownersText(client.Job{}))
	require.Equal(t, "ada 62.5 %, liar 25 % and 1 more of the 40 results brought", ownersText(client.Job{Owners: owners}))
	caught := client.Job{Owners: owners, Verification: &client.JobVerification{Reopened: 10}}
	require.Equal(t, "ada 62.5 %, liar 25 % and 1 more of the 40 results brought, also those that were taken back", ownersText(caught))
	require.Empty(t, aboveShareText(caught), "nothing is accepted")
	caught.Shards.Accepted = 1
	require.Equal(t, "ada brought 62.5 % of these results, and the policy assumes that no more than 10 % are hostile", aboveShareText(caught))
	caught.Policy.Quorum = 1
	require.Empty(t, aboveShareText(caught), "the first output is believed, whoever is hostile")
}
