package planner

// MaxExpressionBytes is the largest CEL expression, in bytes. Parsing costs
// time and memory in proportion; a rule that needs more than four kilobytes
// belongs in an aggregator.
const MaxExpressionBytes = 4 << 10

// MaxNesting is how deep an expression may nest. The time of type checking grows
// with the cube of the depth: 240 nested maps take ten seconds, 50 take some
// tens of milliseconds.
const MaxNesting = 50

// CostLimit bounds one evaluation, in CEL's units of about one operation; half
// of what Kubernetes allows. It is enough to put each of 10,000 values, the most
// that a partition holds inline, into a map of its own (36 units each). The
// slowest expression within it takes some seconds.
const CostLimit = 500_000

// ConfirmCostLimit bounds one look at an output. A job may have ten million of
// them: it is enough to walk a list of some hundred values, and takes some
// milliseconds at most.
const ConfirmCostLimit = 20_000

// MaxConfirmedOutput is the largest output that an expression sees, in bytes of
// JSON, as large as an aggregate may be.
const MaxConfirmedOutput = MaxAggregateBytes

// InterruptCheckFrequency is the number of steps of a comprehension between two
// looks at the context, the same as in Kubernetes: often enough to stop at once,
// with the largest values within a second, and seldom enough to cost nothing.
const InterruptCheckFrequency = 100

// MemoryLimit bounds each value that an evaluation makes, in CEL's units of one
// element, or ten bytes of a string. It leaves room for the largest aggregate
// and the largest partition, and stops lists that double until comparing them
// would take for ever, which the cost limit notices only afterwards. Measuring
// is not free: mapping 10,000 values takes a quarter of a second.
const MemoryLimit = 1 << 19

// RegexLimit bounds a regular expression, in instructions of its program. The
// work of a match is the length of the text times this number, and CEL does not
// count it in full: a{1000} is short to write.
const RegexLimit = 1000

// MaxAggregateBytes is the largest aggregate that rules can see, in bytes of
// JSON: four times what is stored inline. At two bytes a value it has 128 K
// values, which CEL counts afresh whenever an expression names them.
const MaxAggregateBytes = 256 << 10

// DefaultMaxDepth is how deep a chain of follow-ups becomes where a rule does
// not say: a follow-up has none of its own.
const DefaultMaxDepth = 1

// HardMaxDepth is the largest MaxDepth of a rule. Chains that people design are
// two or three jobs long; eight stops what nobody designed.
const HardMaxDepth = 8

// DefaultMaxJobs is how many follow-ups a rule makes under one root job where
// it does not say.
const DefaultMaxJobs = 1

// HardMaxJobs is the largest MaxJobs of a rule, and the largest number of
// follow-ups under one root job by all rules together. It bounds what a job
// that one person submitted can cost.
const HardMaxJobs = 16
