package api

import (
	"github.com/ostraka/ostraka/runtime/protocol"
)

// problemsPath is the page that explains the problems; a problem's type points into it.
const problemsPath = "/docs/problems"

// The codes of problems that the API itself finds. The domain has more. Codes never change their meaning.
const (
	codeInternal         = "internal"
	codeUnauthorized     = "unauthorized"
	codeForbidden        = "forbidden"
	codeNotToOne         = "may_not_do_to_one"
	codeNoSuchRoute      = "no_such_route"
	codeMethodNotAllowed = "method_not_allowed"
	codeBadJSON          = "bad_json"
	codeInvalidRequest   = "invalid_request"
	codeBodyRequired     = "body_required"
	codeBodyTooLarge     = "body_too_large"
	codeBodyUnreadable   = "body_unreadable"
	codeUnsupportedMedia = "unsupported_media_type"
	codeNotAcceptable    = "not_acceptable"
	codeBadCursor        = "bad_cursor"
	codeBadWait          = "bad_wait"
	codeBadTopics        = "bad_topics"
	codeBadEventID       = "bad_event_id"
	codeBadIdemKey       = "bad_idempotency_key"
	codeBadIfMatch       = "bad_if_match"
	codeIfMatchRequired  = "if_match_required"
	codeSecretShownOnce  = "secret_shown_once"
	codeBadDigest        = "bad_digest"
	codeBadInstance      = "bad_instance"
	codeBadResults       = "bad_results"
	codeTooManyRequests  = "too_many_requests"
	codeBusy             = "server_busy"
	codeStopping         = "server_stopping"
	codeCrossSite        = "cross_site_request"
	codeProtocol         = protocol.Code
)
