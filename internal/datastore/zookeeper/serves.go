package zookeeper

import "context"

// Serves reports whether a server serves requests, and so knows a leader. It speaks plain text.
func Serves(ctx context.Context, endpoint string) bool {
	answer, err := command(ctx, endpoint, "srvr")
	if err == nil {
		_, err = readHealth(answer)
	}
	return err == nil
}
