package unary

// Room is the capacity of the buffer for the response on a stream.
func (s *Stream) Room() int { return cap(s.partial) }

// Used is how much of a budget is used.
func (b *Budget) Used() int64 { return b.used.Load() }

// Take and Give are the methods that connections call.
func (b *Budget) Take(n int64) bool { return b.take(n) }
func (b *Budget) Give(n int64)      { b.give(n) }
