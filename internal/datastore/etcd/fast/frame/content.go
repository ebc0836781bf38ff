package frame

import "encoding/binary"

// SettingID identifies a setting.
type SettingID uint16

// The settings of RFC 9113, section 6.5.2.
const (
	HeaderTableSize      SettingID = 1
	EnablePush           SettingID = 2
	MaxConcurrentStreams SettingID = 3
	InitialWindowSize    SettingID = 4
	MaxFrameSize         SettingID = 5
	MaxHeaderListSize    SettingID = 6
)

// Setting is one parameter of a SETTINGS frame.
type Setting struct {
	ID    SettingID
	Value uint32
}

// settingLen is the length of a setting in bytes.
const settingLen = 6

// AppendSettings appends a SETTINGS frame.
func AppendSettings(dst []byte, settings ...Setting) []byte {
	dst = Header{Length: settingLen * len(settings), Kind: Settings}.Append(dst)
	for _, s := range settings {
		dst = binary.BigEndian.AppendUint16(dst, uint16(s.ID))
		dst = binary.BigEndian.AppendUint32(dst, s.Value)
	}
	return dst
}

// AppendSettingsAck appends the acknowledgement of a SETTINGS frame.
func AppendSettingsAck(dst []byte) []byte {
	return Header{Kind: Settings, Flags: Ack}.Append(dst)
}

// ParseSettings calls each for every setting of a payload until it returns false. It returns false if the payload is
// not a list of settings.
func ParseSettings(payload []byte, each func(Setting) bool) bool {
	for ; len(payload) >= settingLen; payload = payload[settingLen:] {
		s := Setting{ID: SettingID(binary.BigEndian.Uint16(payload)), Value: binary.BigEndian.Uint32(payload[2:])}
		if !each(s) {
			return true
		}
	}
	return len(payload) == 0
}

// PingLen is the length of a PING's payload in bytes.
const PingLen = 8

// AppendPing appends a PING with this payload.
func AppendPing(dst, payload []byte) []byte {
	return append(Header{Length: len(payload), Kind: Ping}.Append(dst), payload...)
}

// AppendPingAck appends the acknowledgement of a PING with this payload.
func AppendPingAck(dst, payload []byte) []byte {
	dst = Header{Length: len(payload), Kind: Ping, Flags: Ack}.Append(dst)
	return append(dst, payload...)
}

// AppendWindowUpdate appends a WINDOW_UPDATE that returns this many bytes to a stream's window, or to the connection's
// if stream is 0.
func AppendWindowUpdate(dst []byte, stream uint32, increment int) []byte {
	dst = Header{Length: 4, Kind: WindowUpdate, Stream: stream}.Append(dst)
	return binary.BigEndian.AppendUint32(dst, uint32(increment))
}

// AppendResetStream appends a RST_STREAM.
func AppendResetStream(dst []byte, stream uint32, code ErrorCode) []byte {
	dst = Header{Length: 4, Kind: ResetStream, Stream: stream}.Append(dst)
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

// AppendGoAway appends the GOAWAY of a client, which accepts no streams.
func AppendGoAway(dst []byte, code ErrorCode, why string) []byte {
	dst = Header{Length: 8 + len(why), Kind: GoAway}.Append(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(code))
	return append(dst, why...)
}

// ParseUint31 reads the payload of a WINDOW_UPDATE, or the first field of a GOAWAY: 31 bits after a reserved one.
func ParseUint31(payload []byte) int {
	return int(binary.BigEndian.Uint32(payload) & MaxStream)
}

// ParseErrorCode reads the payload of a RST_STREAM.
func ParseErrorCode(payload []byte) ErrorCode { return ErrorCode(binary.BigEndian.Uint32(payload)) }

// GoAwayLen is the least length of a GOAWAY's payload in bytes.
const GoAwayLen = 8

// ParseGoAway reads the payload of a GOAWAY.
func ParseGoAway(payload []byte) (lastStream uint32, code ErrorCode, why []byte) {
	return uint32(ParseUint31(payload)), ParseErrorCode(payload[4:]), payload[GoAwayLen:]
}

// PriorityLen is the length of a PRIORITY's payload, and of the same fields in a HEADERS frame, in bytes.
const PriorityLen = 5

// Content returns the payload of a DATA or HEADERS frame without its padding and priority fields. It returns false if
// they do not fit into the payload.
func Content(h Header, payload []byte) ([]byte, bool) {
	padding := 0
	if h.Flags.Has(Padded) {
		if len(payload) == 0 {
			return nil, false
		}
		padding, payload = int(payload[0]), payload[1:]
	}
	if h.Kind == Headers && h.Flags.Has(HasPriority) {
		if len(payload) < PriorityLen {
			return nil, false
		}
		payload = payload[PriorityLen:]
	}
	if padding > len(payload) {
		return nil, false
	}
	return payload[:len(payload)-padding], true
}
