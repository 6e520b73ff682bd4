package rest

import (
	"cmp"
	"net/http"
	"slices"
)

// Explanation is what /docs/problems says of one code.
type Explanation struct {
	Code   string
	Status int
	Text   string // what it means
	Next   string // what to do
}

// Explained are all codes that are known here, in the order of the alphabet.
func Explained() []Explanation {
	all := slices.Concat(apiProblems(), namedProblems(), domainProblems(), partitionProblems(), moduleProblems(), quotaProblems())
	slices.SortFunc(all, func(a, b Explanation) int { return cmp.Compare(a.Code, b.Code) })
	return slices.CompactFunc(all, func(a, b Explanation) bool { return a.Code == b.Code })
}

func apiProblems() []Explanation {
	const docs = "Look the operation up in the reference."
	return []Explanation{
		{CodeInternal, http.StatusInternalServerError, "Something went wrong on the server. The answer says nothing more on purpose.", "Try again later; if it stays, give the operator the request_id."},
		{CodeUnauthorized, http.StatusUnauthorized, "The request has no key.", "Send Authorization: Bearer <key>."},
		{CodeNotToOne, http.StatusForbidden, "The key may begin bulk actions, and may not do this one to a single item.", "Use a key of one of the roles that the hint names."},
		{CodeForbidden, http.StatusForbidden, "The key is valid, and its role may not do this.", "Use a key of one of the roles that the hint names."},
		{CodeNoSuchRoute, http.StatusNotFound, "There is nothing at this path.", docs},
		{CodeMethodNotAllowed, http.StatusMethodNotAllowed, "The path exists, and not with this method.", "Use one of the methods in the Allow header."},
		{CodeBadJSON, http.StatusBadRequest, "The body is not one JSON value in UTF-8 without ambiguity: keys occur once, and nothing follows the value.", "Correct the body."},
		{CodeInvalidRequest, http.StatusUnprocessableEntity, "A parameter or a field of the body is not as the operation asks: missing, unknown, of another type, or out of bounds. errors lists all of them.", docs},
		{CodeBodyRequired, http.StatusBadRequest, "The operation needs a body and the request has none.", docs},
		{CodeBodyTooLarge, http.StatusRequestEntityTooLarge, "The body has more bytes than the operation takes.", "Send less at once; the reference states each operation's limit."},
		{CodeBodyUnreadable, http.StatusBadRequest, "The body broke off or did not arrive in time (then the status is 408).", "Send it again."},
		{CodeUnsupportedMedia, http.StatusUnsupportedMediaType, "The Content-Type is not one that the operation reads.", "Send application/json."},
		{CodeNotAcceptable, http.StatusNotAcceptable, "The Accept header asks for a form that the server does not write.", "Leave Accept out."},
		{CodeBadCursor, http.StatusUnprocessableEntity, "The cursor was not given out by this list.", "Give next_cursor as it is, or start without a cursor."},
		{CodeBadWait, http.StatusUnprocessableEntity, "wait is not a time such as 25s, or is longer than 60s.", "Wait for less, and ask again."},
		{CodeBadTopics, http.StatusUnprocessableEntity, "topics names something that cannot be watched, or too much.", "Name jobs, job:ID, flags and agents, with commas between."},
		{CodeBadEventID, http.StatusUnprocessableEntity, "Last-Event-ID is not the id of an event.", "Send the id of the last event, or none."},
		{CodeBadIdemKey, http.StatusUnprocessableEntity, "The Idempotency-Key is not one value of 1 to 255 visible ASCII characters.", "Use a random UUID for each new request."},
		{CodeBadIfMatch, http.StatusUnprocessableEntity, "If-Match is not an ETag of this document.", "Send the ETag as it was answered, with the quotation marks."},
		{CodeIfMatchRequired, http.StatusPreconditionRequired, "The operation changes a document that several people may edit, and the request does not say which version it is about.", "Read the document and send its ETag in If-Match."},
		{CodeSecretShownOnce, http.StatusConflict, "The request was done before; its answer held a secret, of which only a digest is stored.", "If the secret is lost, revoke what it belongs to and create another."},
		{CodeBadDigest, http.StatusUnprocessableEntity, "A digest is not a SHA-256 in the form that is asked for.", "Write 64 lower-case hexadecimal characters; in Content-Digest sha-256=:<base64>:."},
		{CodeBadInstance, http.StatusUnprocessableEntity, "The header Ostraka-Instance is not a UUID.", "Draw a random UUID when the agent starts and send it with every request."},
		{CodeBadResults, http.StatusUnprocessableEntity, "A post of results is not of the form that it should be. Nothing was recorded.", docs},
		{CodeTooManyRequests, http.StatusTooManyRequests, "The key or the address has sent more requests than one may.", "Wait as long as Retry-After says; RateLimit-Policy says how many may be sent in which time."},
		{CodeBusy, http.StatusServiceUnavailable, "The server holds as much for requests as it may, in all or of this client.", "Send it again after Retry-After, send less at once, or fewer requests at a time."},
		{CodeStopping, http.StatusServiceUnavailable, "The server is stopping, or the request was given up before it was done.", "Send it again after Retry-After."},
		{CodeProtocol, http.StatusUpgradeRequired, "Agent and server do not speak the same version of the agent protocol.", "Update the one that is older; both say theirs in the header Ostraka-Protocol."},
		{CodeCrossSite, http.StatusForbidden, "Another site made the browser send the request.", "Open the page itself."},
	}
}
