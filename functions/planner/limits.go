package planner

import "github.com/ostraka/ostraka/runtime/expression"

// MaxExpressionBytes is the largest CEL expression, in bytes; a rule that needs
// more than four kilobytes belongs in an aggregator.
const MaxExpressionBytes = expression.MaxBytes

// MaxNesting is how deep an expression may nest.
const MaxNesting = expression.MaxNesting

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

// MemoryLimit bounds each value that an evaluation makes, in CEL's units of one
// element, or ten bytes of a string. It leaves room for the largest aggregate
// and the largest partition, and stops lists that double until comparing them
// would take forever, which the cost limit notices only afterwards. Measuring
// is not free: mapping 10,000 values takes a quarter of a second.
const MemoryLimit = 1 << 19

// MaxAggregateBytes is the largest aggregate that rules can see, in bytes of
// JSON: four times what is stored inline. At two bytes a value it has 128 K
// values, which CEL counts afresh whenever an expression names them.
const MaxAggregateBytes = 256 << 10

// DefaultMaxDepth is how deep a chain of follow-ups becomes where a rule does
// not say: a follow-up has none of its own.
const DefaultMaxDepth = 1

// HardMaxDepth is the largest MaxDepth of a rule. Chains that people design are
// two or three jobs long; eight stops chains that were not designed.
const HardMaxDepth = 8

// DefaultMaxJobs is how many follow-ups a rule makes under one root job where
// it does not say.
const DefaultMaxJobs = 1

// HardMaxJobs is the largest MaxJobs of a rule, and the largest number of
// follow-ups under one root job by all rules together. It bounds what a job
// that one person submitted can cost.
const HardMaxJobs = 16

// HardPlannerDepth is HardMaxDepth of a rule with a planner: an optimisation
// takes a round for each digit or so, and its module says when it is over.
const HardPlannerDepth = 64

// HardPlannerJobs is HardMaxJobs of a rule with a planner, and the largest
// number of follow-ups under one root job once planners make some of them.
const HardPlannerJobs = 64

// MaxChainShards is how many shards the follow-ups under one root job may have
// together where a planner makes more of them.
const MaxChainShards = 1_000_000

// MaxChainExecutions is how many executions all jobs of a root job may have
// taken where a planner makes more of them, each planned shard counted as one.
const MaxChainExecutions = 4_000_000

// MaxChainFuel is how much processor time planners may take under one root job,
// in units of fuel: what ten batches may take, about a minute.
const MaxChainFuel = 200_000_000_000

// MaxDayFuel is the same for all planners of a project on one day, by UTC: about
// an hour.
const MaxDayFuel = 10_000_000_000_000

// MaxPlannerTries is how often in a row a planner may ask for another try (it
// exits with 75) before that counts as a failure of its own.
const MaxPlannerTries = 5

// MaxPlanBytes bounds the jobs of one plan, in bytes of JSON: they are kept with
// the job.
const MaxPlanBytes = 4 << 20
