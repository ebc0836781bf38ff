package etcd

import (
	"context"
	"encoding/json"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// beatEvery is how often a pod renews its sign of life. Leftovers counts on a change of the keys of a live run within
// three times this time, also if its load only reads.
const beatEvery = 20 * time.Second

// lifeSign is the content of a pod's key. The times are those of the pod's clock.
type lifeSign struct {
	Began time.Time `json:"began"`
	Seen  time.Time `json:"seen"`
}

func (s lifeSign) encode() string {
	s.Began, s.Seen = s.Began.UTC().Truncate(time.Second), s.Seen.UTC().Truncate(time.Second)
	data, _ := json.Marshal(s)
	return string(data)
}

// beat calls once every interval until endBeat, to renew the sign of life. The key that the pod has given up stays deleted.
func (d *Driver) beat(every time.Duration, once func(context.Context, lifeSign)) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.beating != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.beating = cancel
	began := time.Now()
	d.beaten.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-ticker.C:
				bounded, cancel := context.WithTimeout(ctx, every)
				once(bounded, lifeSign{Began: began, Seen: now})
				cancel()
			}
		}
	})
}

// beatOnce ignores errors: the next beat follows, and whether the target answers is for others to report.
func (d *Driver) beatOnce(ctx context.Context, client *clientv3.Client, sign lifeSign) {
	registered := clientv3.Compare(clientv3.CreateRevision(d.podKey()), ">", 0)
	_, _ = client.Txn(ctx).If(d.ownsPrefix(), registered).Then(clientv3.OpPut(d.podKey(), sign.encode())).Commit()
}

// endBeat returns after the last beat.
func (d *Driver) endBeat() {
	d.mutex.Lock()
	beating := d.beating
	d.beating = nil
	d.mutex.Unlock()
	if beating != nil {
		beating()
		d.beaten.Wait()
	}
}
