package host

const (
	// busySamples is how many samples in a row must be above the limit before the machine counts as busy: somebody who starts one
	// program is not in need of all processors.
	busySamples = 3
	// calmSamples is how many in a row must be below the lower limit before it counts as free again.
	calmSamples = 6
)

// Hysteresis turns a value that goes up and down into a state that does not flap.
type Hysteresis struct {
	on    bool
	count int // samples in a row that speak for a change
}

// Update takes a sample and says whether the state is on. A limit of zero is none.
func (h *Hysteresis) Update(value, above, below float64) bool {
	if above <= 0 {
		*h = Hysteresis{}
		return false
	}
	change, need := value > above, busySamples
	if h.on {
		change, need = value < below, calmSamples
	}
	if !change {
		h.count = 0
		return h.on
	}
	if h.count++; h.count >= need {
		h.on, h.count = !h.on, 0
	}
	return h.on
}

// On says whether the state is on.
func (h *Hysteresis) On() bool { return h.on }
