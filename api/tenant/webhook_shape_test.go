package tenant

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAWebhookChangesToWhatItCouldHaveBeen: what a webhook may get when it is made it may get later.
func TestAWebhookChangesToWhatItCouldHaveBeen(t *testing.T) {
	t.Parallel()
	kinds := func(of any) string {
		field, found := reflect.TypeOf(of).FieldByName("Kinds")
		require.True(t, found)
		return field.Tag.Get("enum")
	}
	require.NotEmpty(t, kinds(WebhookRequest{}))
	require.Equal(t, kinds(WebhookRequest{}), kinds(WebhookChange{}))
}
