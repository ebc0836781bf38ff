package spec

import "slices"

// transportRow is the row of a transport: the workloads that it can send, whether its connections carry many requests at a
// time, whether event loops carry its requests, whether a read can have several keys, or only their names or their number, and
// whether it loads members that exist without the run.
type transportRow struct {
	workloads                              []Variant
	multiplexed, loops, ranges, anyMembers bool
}

var fetches = slices.Clip([]Variant{VariantFetchFragmented, VariantFetchBlob, VariantFetchFlat, VariantFetchTree})

// transports has every transport. Fast sends requests that have one response each.
var transports = map[Transport]transportRow{
	TransportClient: {workloads: Variants(), multiplexed: true, ranges: true, anyMembers: true},
	TransportFast: {workloads: append(fetches, VariantPut, VariantRangeWhole, VariantMixed, VariantDelete, VariantTxnPuts, VariantTxnCompareAndSwap,
		VariantLeaseGrant, VariantLeaseRevoke), multiplexed: true, loops: true, ranges: true, anyMembers: true},
	TransportJSON: {workloads: append(fetches, VariantPut, VariantRangeWhole, VariantMixed, VariantDelete, VariantTxnPuts), ranges: true, anyMembers: true},
	TransportV2:   {workloads: append(fetches, VariantPut, VariantRangeWhole)},
}

// Workloads are those that the transport can send.
func (t Transport) Workloads() []Variant { return transports[t].workloads }

// Multiplexed reports whether a connection of the transport carries many requests at a time, as Store.Multiplexed does.
func (t Transport) Multiplexed() bool { return transports[t].multiplexed }

// Loops reports whether event loops carry the requests of the transport. Then no goroutine waits for a response, and
// requests leave no garbage.
func (t Transport) Loops() bool { return transports[t].loops }

// Ranges reports whether a read over the transport can have several keys, as KeyLimits.Ranges does.
func (t Transport) Ranges() bool { return transports[t].ranges }

// AnyMembers reports whether the transport loads members that exist without the run, and not only those of target.ephemeral.
func (t Transport) AnyMembers() bool { return transports[t].anyMembers }
