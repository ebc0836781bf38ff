package results

// Diagnosis is what is wrong with a target, the most important first.
type Diagnosis struct {
	Findings  []Finding   `json:"findings"`
	Undecided []Undecided `json:"undecided"`
	// NotLookedFor are checks that need a right, a place or a setting that most users lack. They leave nothing undecided. Looked
	// are the kinds that were looked for, at one member at least.
	NotLookedFor []Undecided `json:"notLookedFor,omitempty"`
	Looked       []string    `json:"looked"`
	// Unseen are members that were not looked at: each check could find something there.
	Unseen []string `json:"unseen,omitempty"`
}

// Finding is one thing that is wrong.
type Finding struct {
	// Kind names it, for example SlowFlush.
	Kind string `json:"kind"`
	// Members are those that have it, by name; empty if it is one of the cluster.
	Members []string `json:"members,omitempty"`
	// Message says what was found, with the number. Limit is what is usual, Source where that is written, Do what to do.
	Message string `json:"message"`
	Limit   string `json:"limit"`
	Source  string `json:"source"`
	Do      string `json:"do"`
}

// Undecided is a check that a member's numbers do not decide.
type Undecided struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	// Why says what was found, and Needs what would decide it.
	Why   string `json:"why"`
	Needs string `json:"needs"`
}
