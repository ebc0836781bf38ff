package workload

import (
	"encoding/binary"
	"strings"
)

// protobuf is an encoded message. Its methods append fields.
type protobuf []byte

// The types of fields.
const (
	varint         = 0
	lengthThenData = 2
)

// lengthBytes is what a length takes that is written later. A decoder accepts leading zeros.
const lengthBytes = 4

func (p *protobuf) tag(field, kind uint64) { *p = binary.AppendUvarint(*p, field<<3|kind) }

func (p *protobuf) number(field, value uint64) *protobuf {
	p.tag(field, varint)
	*p = binary.AppendUvarint(*p, value)
	return p
}

func (p *protobuf) text(field uint64, value string) *protobuf {
	p.tag(field, lengthThenData)
	*p = append(binary.AppendUvarint(*p, uint64(len(value))), value...)
	return p
}

// in appends a message.
func (p *protobuf) in(field uint64, fill func(*protobuf)) *protobuf {
	var inner protobuf
	fill(&inner)
	return p.text(field, string(inner))
}

// pair appends an entry of a map: key=value.
func (p *protobuf) pair(field uint64, pair string) {
	key, value, _ := strings.Cut(pair, "=")
	p.in(field, func(p *protobuf) { p.text(1, key).text(2, value) })
}

// managed appends an entry of managedFields.
func (p *protobuf) managed(manager, fields string) *protobuf {
	return p.in(17, func(p *protobuf) {
		p.text(1, manager).text(2, "Update").text(3, "v1").in(4, at(podCreated)).text(6, "FieldsV1").in(7, func(p *protobuf) { p.text(1, fields) })
	})
}

// open begins a message whose length is written later, and returns where its content begins.
func (p *protobuf) open(field uint64) int {
	p.tag(field, lengthThenData)
	*p = append(*p, make([]byte, lengthBytes)...)
	return len(*p)
}

// putLength writes a length with leading zeros.
func putLength(at []byte, n int) {
	for i := range lengthBytes {
		at[i] = byte(n>>(7*i))&0x7f | 0x80
	}
	at[lengthBytes-1] &= 0x7f
}

// at fills a time.
func at(seconds uint64) func(*protobuf) {
	return func(p *protobuf) { p.number(1, seconds).number(2, 0) }
}

// The fields that the managers of a Pod own.
const (
	managedSpec = `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:generateName":{},` +
		`"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/version":{},"f:pod-template-hash":{}},"f:ownerReferences":{}},` +
		`"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}},` +
		`"k:{\"name\":\"sidecar\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},` +
		`"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`
	managedStatus = `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Initialized\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},` +
		`"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}}`
)
