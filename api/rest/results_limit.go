package rest

// MaxResultsBody is the largest post of results: dispatch.MaxLeaseShards results, a few of them with an output of 64 KiB. An agent that has more
// posts them in several parts.
const MaxResultsBody = 16 << 20
