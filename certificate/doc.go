// Package certificate verifies proofs that a number is prime, and that one is composite: certificates in the public text format that begins
// with "[MPU - Primality Certificate]", and statements of examples/certify, which hold one, or a verdict of Miller-Rabin, a factor or a
// witness. A certificate is a set of steps "if these smaller numbers are prime, so is N", in any order. Each is checked by itself, and a
// tree of them must lead from the number to primes below 2^64. Nothing is believed, and no test is probabilistic. docs/certificates.md
// has the theorems.
package certificate
