package graph

// ProveStep is what a step of the type prove has besides a job: a validator that judges each result alone.
type ProveStep struct {
	Validator string         // "": that of the function
	Params    map[string]any // of the validator, with placeholders
}

func (t stepTable) proveStep(s Step) (m MapStep, p ProveStep, err error) {
	p = ProveStep{Validator: t.Validator, Params: t.ValidatorParams}
	if t.Policy != nil {
		return m, p, wrong(s.field("policy"), "leave it out: a result that proves itself is executed once", "a step of the type prove has no policy")
	}
	if p.Params != nil && p.Validator == "" {
		return m, p, wrong(s.field("validator_params"), "name the validator", "there are parameters and no validator")
	}
	if err := t.only(s, "function", "range", "items", "grid", "lines", "objects", "aggregator", "params", "priority", "validator", "validator_params"); err != nil {
		return m, p, err
	}
	m, err = t.mapStep(s)
	return m, p, err
}

// proving adds the validator to the job of a step of the type prove.
func (s Step) proving(j *Job, values Values, left *int) (err error) {
	j.Proves, j.Validator = true, s.Prove.Validator
	if s.Prove.Params != nil {
		j.ValidatorParams, err = filler{s.field("validator_params"), values}.json(s.Prove.Params, left)
	}
	return err
}
