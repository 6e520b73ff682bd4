package canonical

import "fmt"

// Reason names why a document was refused. Reasons are stable: other programs
// and error messages may depend on them.
type Reason string

// The reasons that Check and Valid give.
const (
	TooLarge     Reason = "too_large"     // more bytes than the caller allows
	NotUTF8      Reason = "not_utf8"      // a byte sequence that is not UTF-8
	Syntax       Reason = "syntax"        // not JSON
	WhiteSpace   Reason = "white_space"   // white space between tokens (Check only)
	NUL          Reason = "nul"           // the character U+0000, written or escaped
	Surrogate    Reason = "surrogate"     // half of a surrogate pair
	Escape       Reason = "escape"        // an escape other than the one permitted form (Check only)
	KeyOrder     Reason = "key_order"     // keys not in ascending order of code points (Check only)
	DuplicateKey Reason = "duplicate_key" // the same key twice in one object
	NumberForm   Reason = "number_form"   // a number not in the one permitted form (Check only)
	NotFinite    Reason = "not_finite"    // NaN, an infinity, or a float too large to hold
	TooDeep      Reason = "too_deep"      // nested deeper than MaxDepth
)

// Error says why and where a document was refused.
type Error struct {
	Reason Reason
	Offset int    // byte offset of the trouble
	Detail string // one sentence for people
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("JSON refused (%s) at byte %d: %s", e.Reason, e.Offset, e.Detail)
}
