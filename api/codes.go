package api

// problemsPath is the page that explains the problems; a problem's type points into it.
const problemsPath = "/docs/problems"

// The codes of problems that the API itself finds. The domain has more.
const (
	codeInternal         = "internal"
	codeUnauthorized     = "unauthorized"
	codeForbidden        = "forbidden"
	codeNotFound         = "not_found"
	codeNoSuchRoute      = "no_such_route"
	codeMethodNotAllowed = "method_not_allowed"
	codeBadJSON          = "bad_json"
	codeInvalidRequest   = "invalid_request"
	codeBodyRequired     = "body_required"
	codeBodyTooLarge     = "body_too_large"
	codeBodyUnreadable   = "body_unreadable"
	codeUnsupportedMedia = "unsupported_media_type"
	codeNotAcceptable    = "not_acceptable"
	codeInvalidCursor    = "invalid_cursor"
	codeInvalidWait      = "invalid_wait"
	codeInvalidEventID   = "invalid_event_id"
	codeInvalidIdemKey   = "invalid_idempotency_key"
	codeIdemUnsupported  = "idempotency_unsupported"
	codeInvalidETag      = "invalid_if_match"
	codeIfMatchRequired  = "if_match_required"
	codeSecretShownOnce  = "secret_shown_once"
	codeInvalidDigest    = "invalid_digest"
	codeStopping         = "server_stopping"
	codeCrossSite        = "cross_site_request"
	codeTooManyItems     = "partition_size"
	codeBadResults       = "bad_results"
	codeUnavailableOps   = "ops_unavailable"
)
