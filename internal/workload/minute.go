package workload

// minute is the mix of requests that an API server sends in a minute. For each place in it, it has the kind of the
// request and how many of that kind came before. So the requests of a kind are numbered in the order in which they are
// sent, and objects that they take in turn are used as far apart as possible.
type minute struct {
	places []place
	// counts is the number of requests of each kind.
	counts  []int64
	servers int64
	// before is, for each server, how many requests of each kind precede its first place.
	before [][]int64
}

// place is one request of a minute.
type place struct {
	kind   int
	number int64
}

// moment is a server's position in its requests of one kind.
type moment struct {
	server int64
	// minute is how many minutes the server has completed. number counts its requests of the kind over all minutes.
	minute, number int64
}

// newMinute mixes counts[i] requests of each kind i.
func newMinute(counts []int64, seed uint64, servers int64) minute {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	m := minute{places: make([]place, total), counts: counts, servers: servers}
	mixed, seen := newScatter(uint64(total), seed), make([]int64, len(counts))
	for i := range m.places {
		kind := rowOf(mixed.of(uint64(i)), counts)
		m.places[i] = place{kind, seen[kind]}
		seen[kind]++
	}
	for server := range servers {
		m.before = append(m.before, m.countBefore(server*total/servers))
	}
	return m
}

// rowOf returns which of the consecutive rows a number lies in.
func rowOf(number int64, counts []int64) (kind int) {
	for ; number >= counts[kind]; kind++ {
		number -= counts[kind]
	}
	return kind
}

// countBefore counts the requests of each kind before a place.
func (m *minute) countBefore(end int64) []int64 {
	out := make([]int64, len(m.counts))
	for _, p := range m.places[:end] {
		out[p.kind]++
	}
	return out
}

// at returns the kind of request n, which belongs to the server n modulo servers, and that server's position. The
// servers begin at different places of the minute, spread evenly over it. As long as they are equally fast, each does
// its share of every minute of the cluster.
func (m *minute) at(n int64) (kind int, at moment) {
	total := int64(len(m.places))
	server, own := n%m.servers, n/m.servers
	p := m.places[(own+server*total/m.servers)%total]
	count := m.counts[p.kind]
	since := (p.number - m.before[server][p.kind] + count) % count
	return p.kind, moment{server: server, minute: own / total, number: own/total*count + since}
}
