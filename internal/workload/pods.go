package workload

import "strings"

// podMaker makes values as an API server stores Pods: "k8s\0", and a protobuf with the object. An annotation fills the
// value to its length. A value that is shorter than the rest of the Pod is the beginning of one.
type podMaker struct {
	seed uint64
	// pod is a Pod whose annotation is empty. The text of the annotation goes to the place annotation.
	pod        []byte
	annotation int
	// grows are the lengths in pod that include the annotation, and ids the hexadecimal digits that differ.
	grows, ids []span
	texts      []byte
}

// span is a part of podMaker.pod. For a length, n is its value without the annotation.
type span struct{ at, n int }

const (
	// podTexts is how many places the text of an annotation can begin at. It is a prime.
	podTexts = 65_537
	// shortestID is how many idMark in a row are the digits of an ID. Fewer can be part of the encoding.
	idMark, shortestID = '@', 4
	// podSalt separates IDs from the choices of operations, and textSalt the words of annotations.
	podSalt, textSalt = 1 << 33, 1 << 34
	hexDigits         = "0123456789abcdef"
)

func newPodMaker(seed uint64, longest int) *podMaker {
	m := &podMaker{seed: seed, texts: podTextOf(seed, longest+podTexts)}
	m.build()
	for at := 0; at < len(m.pod); at++ {
		n := 0
		for at+n < len(m.pod) && m.pod[at+n] == idMark {
			n++
		}
		if n >= shortestID {
			m.ids = append(m.ids, span{at, n})
		}
		at += n
	}
	return m
}

// append appends the Pod with this number. random chooses the text of its annotation.
func (m *podMaker) append(dst []byte, number int64, random uint64, size int) []byte {
	from, filled := len(dst), max(size-len(m.pod), 0)
	text := int(below(random, podTexts))
	dst = append(dst, m.pod[:m.annotation]...)
	dst = append(dst, m.texts[text:text+filled]...)
	dst = append(dst, m.pod[m.annotation:]...)
	value := dst[from:]
	for _, g := range m.grows {
		putLength(value[g.at:], g.n+filled)
	}
	m.putIDs(value, number, filled)
	return dst[:from+size]
}

// putIDs writes the IDs of a Pod, 16 digits of each hash.
func (m *podMaker) putIDs(value []byte, number int64, filled int) {
	var digits, draws uint64
	left := 0
	for _, id := range m.ids {
		at := id.at
		if at >= m.annotation {
			at += filled
		}
		for i := range id.n {
			if left == 0 {
				digits, left, draws = hash(m.seed, podSalt+draws, uint64(number)), 16, draws+1
			}
			value[at+i] = hexDigits[digits&15]
			digits, left = digits>>4, left-1
		}
	}
}

// podTextOf is text as in the environment of containers.
func podTextOf(seed uint64, n int) []byte {
	words := strings.Fields("SERVICE cache backend HOST payment URL replica PORT database session token TIMEOUT region " +
		"ENDPOINT checkout LOG level metrics secret queue worker PATH config tenant account invoice REDIS stream zone")
	text := make([]byte, 0, n+128)
	for i := uint64(0); len(text) < n; i += 4 {
		word := func(k uint64) string { return words[below(hash(seed, textSalt, i+k), uint64(len(words)))] }
		text = append(text, `{"name":"`+word(0)+"_"+word(1)+`","value":"`+word(2)+"-"...)
		for digits := hash(seed, textSalt, i+3); digits > 1<<32; digits >>= 4 {
			text = append(text, hexDigits[digits&15])
		}
		text = append(text, `"},`...)
	}
	return text[:n]
}

// podCreated is the time in seconds at which Pods begin, on 1 January 2026.
const podCreated = 1_767_225_600

// build makes the Pod of a Deployment. The numbers are those of the fields in k8s.io/api and k8s.io/apimachinery.
func (m *podMaker) build() {
	p := protobuf("k8s\x00")
	p.in(1, func(p *protobuf) { p.text(1, "v1").text(2, "Pod") })
	object := p.open(2)
	metadata := p.open(1)
	p.text(1, "web-7c9d8f6b54-@@@@@").text(2, "web-7c9d8f6b54-").text(3, "default")
	p.text(5, "@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@").number(7, 1).in(8, at(podCreated))
	for _, label := range []string{"app.kubernetes.io/name=web", "app.kubernetes.io/version=v2.1.4", "pod-template-hash=7c9d8f6b54"} {
		p.pair(11, label)
	}
	annotation := p.open(12)
	p.text(1, "kubectl.kubernetes.io/last-applied-configuration")
	text := p.open(2)
	m.annotation = len(p)
	m.grow(p, annotation, text)
	p.in(13, func(p *protobuf) {
		p.text(1, "ReplicaSet").text(3, "web-7c9d8f6b54").text(4, "5b1c7f0e-4e1f-4d57-9c35-0d8a5be3a7f1").text(5, "apps/v1").number(6, 1).number(7, 1)
	})
	p.managed("kube-controller-manager", managedSpec).managed("kubelet", managedStatus)
	m.grow(p, metadata)
	p.in(2, podSpec).in(3, podStatus)
	m.grow(p, object)
	p.text(3, "").text(4, "")
	m.pod = p
}

// grow keeps the places of lengths whose messages end here.
func (m *podMaker) grow(p protobuf, opened ...int) {
	for _, at := range opened {
		m.grows = append(m.grows, span{at - lengthBytes, len(p) - at})
	}
}

func podSpec(p *protobuf) {
	p.in(1, func(p *protobuf) {
		p.text(1, "kube-api-access-@@@@@")
		p.in(2, func(p *protobuf) { p.in(26, func(p *protobuf) { p.number(2, 420) }) })
	})
	for _, name := range []string{"main", "sidecar"} {
		p.in(2, container(name))
	}
	p.text(3, "Always").number(4, 30).text(6, "ClusterFirst").text(8, "default").text(9, "default").text(10, "node-@@@@").in(14, func(*protobuf) {}).text(19, "default-scheduler")
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		p.in(22, func(p *protobuf) { p.text(1, key).text(2, "Exists").text(4, "NoExecute").number(5, 300) })
	}
	p.number(25, 0).number(30, 1).text(31, "PreemptLowerPriority")
}

func container(name string) func(*protobuf) {
	return func(p *protobuf) {
		p.text(1, name).text(2, "registry.example.com/shop/"+name+":v2.1.4")
		for _, variable := range []string{"NODE_ENV=production", "PYTHONUNBUFFERED=1", "REDIS_URL=redis://redis:6379/0"} {
			key, value, _ := strings.Cut(variable, "=")
			p.in(7, func(p *protobuf) { p.text(1, key).text(2, value) })
		}
		p.in(8, func(p *protobuf) {
			for _, request := range []string{"cpu=100m", "memory=128Mi"} {
				key, value, _ := strings.Cut(request, "=")
				p.in(2, func(p *protobuf) { p.text(1, key).in(2, func(p *protobuf) { p.text(1, value) }) })
			}
		})
		p.in(9, func(p *protobuf) {
			p.text(1, "kube-api-access-@@@@@").number(2, 1).text(3, "/var/run/secrets/kubernetes.io/serviceaccount")
		})
		p.text(13, "/dev/termination-log").text(14, "IfNotPresent").text(20, "File")
	}
}

func podStatus(p *protobuf) {
	p.text(1, "Running")
	for _, condition := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.in(2, func(p *protobuf) { p.text(1, condition).text(2, "True").in(4, at(podCreated+5)) })
	}
	p.text(5, "fd00:10:40::@@@@").text(6, "fd00:10:244:@@@@::@@@@").in(7, at(podCreated))
	for _, name := range []string{"main", "sidecar"} {
		p.in(8, func(p *protobuf) {
			p.text(1, name).in(2, func(p *protobuf) { p.in(2, func(p *protobuf) { p.in(1, at(podCreated+5)) }) }).in(3, func(*protobuf) {})
			p.number(4, 1).number(5, 0).text(6, "registry.example.com/shop/"+name+":v2.1.4")
			p.text(7, "registry.example.com/shop/"+name+"@sha256:b173c7d0ffe3d80ddb6da0fa37050477f928b12191bbfb56b92f7c1199934232")
			p.text(8, "containerd://"+strings.Repeat("@", 64)).number(9, 1)
		})
	}
	p.text(9, "Burstable")
}
