package spec

import "slices"

// Variant is a type of workload, with the value of the setting that decides which requests it sends. The simplest value
// is left out.
type Variant string

// The variants. CEL rules of the API make the same texts.
const (
	VariantPut                Variant = "Put"
	VariantRangeWhole         Variant = "Range"
	VariantRangePages         Variant = "Range Pages"
	VariantRangeStream        Variant = "Range Stream"
	VariantMixed              Variant = "Mixed"
	VariantMixedInTransaction Variant = "Mixed InTransaction"
	VariantDelete             Variant = "Delete"
	VariantTxnPuts            Variant = "Txn"
	VariantTxnCompareAndSwap  Variant = "Txn CompareAndSwap"
	VariantSTM                Variant = "STM"
	VariantLock               Variant = "Lock"
	VariantElection           Variant = "Election"
	VariantLeaseGrant         Variant = "Lease"
	VariantLeaseKeepAlive     Variant = "Lease KeepAlive"
	VariantLeaseRevoke        Variant = "Lease Revoke"
	VariantWatch              Variant = "Watch"
	VariantWatchGet           Variant = "WatchGet"
	VariantKubernetes         Variant = "Kubernetes"
	VariantFetchFragmented    Variant = "Fetch"
	VariantFetchBlob          Variant = "Fetch Blob"
	VariantFetchFlat          Variant = "Fetch Flat"
	VariantFetchTree          Variant = "Fetch Tree"
	VariantAppend             Variant = "Append"
	VariantObserve            Variant = "Observe"
)

// Variants returns all variants.
func Variants() []Variant {
	return []Variant{
		VariantPut, VariantRangeWhole, VariantRangePages, VariantRangeStream, VariantMixed, VariantMixedInTransaction,
		VariantDelete, VariantTxnPuts, VariantTxnCompareAndSwap, VariantSTM, VariantLock, VariantElection,
		VariantLeaseGrant, VariantLeaseKeepAlive, VariantLeaseRevoke, VariantWatch, VariantWatchGet, VariantKubernetes,
		VariantFetchFragmented, VariantFetchBlob, VariantFetchFlat, VariantFetchTree, VariantAppend, VariantObserve,
	}
}

// ofMembersOfEtcd are the variants that etcd serves.
func ofMembersOfEtcd() []Variant {
	return slices.DeleteFunc(Variants(), func(v Variant) bool { return v == VariantAppend })
}

// Variant returns the variant of the workload.
func (w Workload) Variant() Variant {
	kind := string(w.Type)
	switch {
	case w.Range != nil && w.Range.Delivery != DeliveryWhole:
		kind += " " + string(w.Range.Delivery)
	case w.Mixed != nil && w.Mixed.InTransaction:
		kind += " InTransaction"
	case w.Txn != nil && w.Txn.Mode != TxnPuts:
		kind += " " + string(w.Txn.Mode)
	case w.Lease != nil && w.Lease.Operation != LeaseGrant:
		kind += " " + string(w.Lease.Operation)
	case w.Fetch != nil && w.Fetch.Layout != LayoutFragmented:
		kind += " " + string(w.Fetch.Layout)
	}
	return Variant(kind)
}
