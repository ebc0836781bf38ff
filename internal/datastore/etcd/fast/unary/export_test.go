package unary

// Room is how long the response on a stream may get where it is kept.
func (s *Stream) Room() int { return cap(s.partial) }

// Used is how much of a budget is taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// Take and Give are what connections do with a budget.
func (b *Budget) Take(n int64) bool { return b.take(n) }
func (b *Budget) Give(n int64)      { b.give(n) }
