package spec

// Arrival is how the requests of an open-loop load are spread over time.
//
// +kubebuilder:validation:Enum=Constant;Poisson
type Arrival string

// The ways in which requests are spread.
const (
	// ArrivalConstant starts requests at equal intervals.
	ArrivalConstant Arrival = "Constant"
	// ArrivalPoisson starts requests at random, independently of each other, as
	// many independent users do. The rate is the average.
	ArrivalPoisson Arrival = "Poisson"
)

// Rate is the schedule of an open loop. It is a union of perSecond, ramp and
// stages: exactly one must be set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.perSecond), has(self.ramp), has(self.stages)].exists_one(set, set)",message="exactly one of perSecond, ramp and stages must be set"
type Rate struct {
	// perSecond is a constant rate: the number of requests started per second,
	// over all pods.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	PerSecond int64 `json:"perSecond,omitempty"`

	// ramp changes the rate linearly over the measured window. It needs
	// load.durationSeconds. The warm-up uses the rate at which the ramp begins.
	//
	// +optional
	Ramp *Ramp `json:"ramp,omitempty"`

	// stages are rates that follow each other. Their seconds add up to the length
	// of the measured window, so load.durationSeconds and load.requests must be
	// absent. The warm-up uses the rate of the first stage.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self[size(self) - 1].perSecond > 0",message="the last stage must have perSecond above 0: a run ends with its last request, so a final pause has no effect; remove that stage"
	Stages []RateStage `json:"stages,omitempty"`

	// arrival is Constant (requests start at equal intervals) or Poisson (requests
	// start at random, independently of each other, and the rate is the average).
	// Default Constant.
	//
	// +optional
	// +kubebuilder:default=Constant
	Arrival Arrival `json:"arrival,omitempty"`
}

// Ramp is a rate that changes linearly over the measured window.
//
// +kubebuilder:validation:XValidation:rule="self.fromPerSecond != self.toPerSecond",message="fromPerSecond and toPerSecond must differ: for a constant rate, set rate.perSecond instead"
type Ramp struct {
	// fromPerSecond is the rate at the start of the measured window: the number of
	// requests started per second, over all pods.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	FromPerSecond int64 `json:"fromPerSecond"`

	// toPerSecond is the rate at the end of the measured window: the number of
	// requests started per second, over all pods.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	ToPerSecond int64 `json:"toPerSecond"`
}

// RateStage is a rate and how long it lasts.
type RateStage struct {
	// perSecond is the number of requests started per second, over all pods. 0 is
	// a pause.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	PerSecond int64 `json:"perSecond"`

	// seconds is how long the stage lasts.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	Seconds int32 `json:"seconds"`
}

// Stage is a part of a schedule in which the rate changes linearly from one
// number of requests per second to another.
type Stage struct {
	From, To int64
	Seconds  int64
}

// Stages are the parts of the measured window of an open loop. There are none for a rate with perSecond.
func (l Load) Stages() []Stage {
	switch {
	case l.Rate == nil:
		return nil
	case l.Rate.Ramp != nil:
		return []Stage{{l.Rate.Ramp.FromPerSecond, l.Rate.Ramp.ToPerSecond, int64(l.Duration().Seconds())}}
	}
	var out []Stage
	for _, s := range l.Rate.Stages {
		out = append(out, Stage{s.PerSecond, s.PerSecond, int64(s.Seconds)})
	}
	return out
}

// WarmupPerSecond is the rate of the warm-up of an open loop: the rate at the start of the measured window. It is 0 in
// a closed loop.
func (l Load) WarmupPerSecond() int64 {
	if stages := l.Stages(); len(stages) > 0 {
		return stages[0].From
	}
	if l.Rate == nil {
		return 0
	}
	return l.Rate.PerSecond
}
