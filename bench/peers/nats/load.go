package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// At the front of every payload: when it was to be sent, the number among its sender's messages, the sender's index,
// and whether it is the sender's last.
type stamp struct {
	intended int64
	sequence uint32
	sender   uint16
	last     uint16
}

const stampBytes = 16

func readStamp(payload []byte) stamp {
	return stamp{int64(binary.LittleEndian.Uint64(payload)), binary.LittleEndian.Uint32(payload[8:]),
		binary.LittleEndian.Uint16(payload[12:]), binary.LittleEndian.Uint16(payload[14:])}
}

type sender struct {
	member   *Member
	index    uint16
	sequence uint32
	payload  []byte
}

func newSender(plan *Plan, member *Member) sender {
	return sender{member: member, index: uint16(plan.member), payload: make([]byte, plan.size)}
}

func (s *sender) send(intended int64, last bool) {
	binary.LittleEndian.PutUint64(s.payload, uint64(intended))
	binary.LittleEndian.PutUint32(s.payload[8:], s.sequence)
	binary.LittleEndian.PutUint16(s.payload[12:], s.index)
	var flag uint16
	if last {
		flag = 1
	}
	binary.LittleEndian.PutUint16(s.payload[14:], flag)
	s.sequence++
	s.member.send(s.payload)
}

// Every sender's messages have to arrive, whole and in the order sent; anything else ends the process.
type deliveries struct {
	size     int
	next     []uint32
	finished int
	count    uint64
	digest   uint64
	complete chan struct{}
}

func newDeliveries(plan *Plan) deliveries {
	return deliveries{size: plan.size, next: make([]uint32, plan.senders), complete: make(chan struct{})}
}

func (d *deliveries) take(payload []byte) stamp {
	if len(payload) != d.size {
		fail("a message of %d bytes arrived instead of %d", len(payload), d.size)
	}
	s := readStamp(payload)
	if int(s.sender) >= len(d.next) {
		fail("a message of an unknown sender arrived")
	}
	if s.sequence != d.next[s.sender] {
		fail("message %d of sender %d arrived instead of %d", s.sequence, s.sender, d.next[s.sender])
	}
	d.next[s.sender]++
	d.count++
	d.digest = (d.digest ^ (uint64(s.sender)<<32 | uint64(s.sequence))) * 0x9e3779b97f4a7c15
	d.digest ^= d.digest >> 29
	if s.last != 0 {
		if d.finished++; d.finished == len(d.next) {
			close(d.complete)
		}
	}
	return s
}

// Closed loop: as soon as an own message has come back, the next one leaves.
type closedLoop struct {
	plan        *Plan
	sender      sender
	deliveries  deliveries
	now         int64
	outstanding int
	stopped     bool
	// When the measurement really began and ended, and how much had arrived by then.
	from, to           int64
	countFrom, countTo uint64
}

const deliveriesPerLook = 16

// At high rates, what is to be sent within so long is to be sent at once.
const burstNanoseconds = 1e6

func newClosedLoop(plan *Plan, member *Member) *closedLoop {
	return &closedLoop{plan: plan, sender: newSender(plan, member), deliveries: newDeliveries(plan)}
}

func (l *closedLoop) run() {
	sleepUntil(l.plan.start)
	// The first message only: when it has come back, receive sends the rest of the window.
	if l.plan.member < l.plan.senders {
		l.sender.send(l.plan.start, false)
	}
	<-l.deliveries.complete
}

func (l *closedLoop) receive(payload []byte) {
	// With the last message the result is read. It may come so soon after the end that no look was due since.
	isLast := len(payload) >= stampBytes && readStamp(payload).last != 0
	if isLast || l.deliveries.count%deliveriesPerLook == 0 {
		l.lookAtClock()
	}
	s := l.deliveries.take(payload)
	if int(s.sender) != l.plan.member || s.last != 0 {
		return
	}
	if s.sequence != 0 {
		l.outstanding--
	}
	l.stopped = l.stopped || l.now >= l.plan.to
	for ; !l.stopped && l.outstanding < l.plan.window; l.outstanding++ {
		l.sender.send(l.now, false)
	}
	if l.stopped && l.outstanding == 0 {
		l.sender.send(l.now, true)
	}
}

func (l *closedLoop) lookAtClock() {
	l.now = now()
	if l.from == 0 && l.now >= l.plan.from {
		l.from, l.countFrom = l.now, l.deliveries.count
	}
	if l.to == 0 && l.now >= l.plan.to {
		l.to, l.countTo = l.now, l.deliveries.count
	}
}

func (l *closedLoop) result() string {
	return fmt.Sprintf(`{"messages": %d, "nanoseconds": %d, "total": %d, "total_ns": %d, "digest": "%016x"}`,
		l.countTo-l.countFrom, l.to-l.from, l.deliveries.count, l.now-l.plan.start, l.deliveries.digest)
}

// Open loop: messages leave at times fixed beforehand; latency counts from these.
type openLoop struct {
	plan             *Plan
	sender           sender
	deliveries       deliveries
	latency, sendLag histogram
	measured         uint64
}

func newOpenLoop(plan *Plan, member *Member) *openLoop {
	return &openLoop{plan: plan, sender: newSender(plan, member), deliveries: newDeliveries(plan)}
}

func (l *openLoop) run() {
	runtime.LockOSThread()
	interval := 1e9 * float64(l.plan.members) / l.plan.rate
	burst := max(1, int(burstNanoseconds/interval))
	offset := interval * float64(burst*l.plan.member) / float64(l.plan.members)
	for i := 0; ; i++ {
		intended := l.plan.start + int64(offset+interval*float64(i-i%burst))
		if i%burst == 0 {
			sleepUntil(intended)
		}
		if l.isMeasured(intended) {
			l.sendLag.record(now() - intended)
		}
		last := intended >= l.plan.to
		l.sender.send(intended, last)
		if last {
			break
		}
	}
	<-l.deliveries.complete
}

func (l *openLoop) receive(payload []byte) {
	arrived := now()
	s := l.deliveries.take(payload)
	if !l.isMeasured(s.intended) {
		return
	}
	l.latency.record(arrived - s.intended)
	l.measured++
}

func (l *openLoop) isMeasured(intended int64) bool {
	return intended >= l.plan.from && intended < l.plan.to
}

func (l *openLoop) result() string {
	return fmt.Sprintf(`{"messages": %d, "nanoseconds": %d, "digest": "%016x", "latency_ns": %s, "send_lag_ns": %s}`,
		l.measured, l.plan.to-l.plan.from, l.deliveries.digest, l.latency.json(), l.sendLag.json())
}
