package rest

import (
	"github.com/ostraka/ostraka/runtime/protocol"
)

// ProblemsPath is the page that explains the problems; a problem's type points into it.
const ProblemsPath = "/docs/problems"

// The codes of problems that the API itself finds. The domain has more. Codes never change their meaning.
const (
	CodeInternal         = "internal"
	CodeUnauthorized     = "unauthorized"
	CodeForbidden        = "forbidden"
	CodeNotToOne         = "may_not_do_to_one"
	CodeNoSuchRoute      = "no_such_route"
	CodeMethodNotAllowed = "method_not_allowed"
	CodeBadJSON          = "bad_json"
	CodeInvalidRequest   = "invalid_request"
	CodeBodyRequired     = "body_required"
	CodeBodyTooLarge     = "body_too_large"
	CodeBodyUnreadable   = "body_unreadable"
	CodeUnsupportedMedia = "unsupported_media_type"
	CodeNotAcceptable    = "not_acceptable"
	CodeBadCursor        = "bad_cursor"
	CodeBadWait          = "bad_wait"
	CodeBadTopics        = "bad_topics"
	CodeBadEventID       = "bad_event_id"
	CodeBadIdemKey       = "bad_idempotency_key"
	CodeBadIfMatch       = "bad_if_match"
	CodeIfMatchRequired  = "if_match_required"
	CodeSecretShownOnce  = "secret_shown_once"
	CodeBadDigest        = "bad_digest"
	CodeBadInstance      = "bad_instance"
	CodeBadResults       = "bad_results"
	CodeTooManyRequests  = "too_many_requests"
	CodeBusy             = "server_busy"
	CodeStopping         = "server_stopping"
	CodeCrossSite        = "cross_site_request"
	CodeProtocol         = protocol.Code
)
