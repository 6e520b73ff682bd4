// Package guardian decides whether something may happen, before it happens. It is pure: facts, rules and a time go in, a decision
// comes out. The server asks it about everything that changes something, and the agent about every function before it runs.
//
//	Operation (what is to happen, with typed facts)
//	    │
//	Policy (rules of four layers, compiled) ── Exceptions (overrides, approvals)
//	    │
//	Decision (allow, ask or deny; risk, conditions, which rules said so)
//
// The strictest rule wins, so that no layer can loosen another one, and neither the order of rules nor a further rule ever
// makes a decision looser. A rule that cannot be evaluated denies.
package guardian
