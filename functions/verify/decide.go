package verify

// Decide judges a shard that is still open. attempts are all attempts at it
// whose lease holds or whose result is in; evidence is what is known about
// their agents, and an agent without evidence is new.
//
// Answers (status ok or error, with a digest) are votes, one for each agent
// that is not caught. An answer wins when a quorum gave it and no other answer
// has as many votes: ok is accepted, error fails the shard. Other failures are
// retried on other agents, up to Policy.FailureLimit. Where answers differ more
// agents are asked, up to the policy's number of attempts, then a person.
func Decide(p Policy, attempts []Attempt, evidence map[string]Evidence) Verdict {
	panic("not yet")
}
