package main

import (
	"fmt"
	"io"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Requests of one client to another one at a different server, at a rate, with the client's own Request and Respond, as
// its documentation shows them: bench/hosts/requests/main.cpp is the same for Spindle.

// Answers until standard input ends.
func (m *Member) answerRequests() {
	m.subscribe(m.subject, func(message *nats.Msg) {
		if err := message.Respond(message.Data); err != nil {
			fail("cannot answer: %v", err)
		}
	})
	if err := m.connection.Flush(); err != nil {
		fail("cannot subscribe: %v", err)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

func (m *Member) request(payload []byte, patience time.Duration) error {
	_, err := m.connection.Request(m.subject, payload, patience)
	return err
}

func (m *Member) measureRequests(size int, rate, seconds float64) {
	payload := make([]byte, size)
	for m.request(payload, time.Second) != nil { // until interest has come to this server
	}
	count := int(rate * seconds)
	times := make([]time.Duration, count)
	var waiting sync.WaitGroup
	start := time.Now()
	for i := 0; i < count; i++ {
		time.Sleep(time.Until(start.Add(time.Duration(float64(i) / rate * 1e9))))
		waiting.Add(1)
		go func(i int) {
			defer waiting.Done()
			begun := time.Now()
			if err := m.request(payload, 10*time.Second); err != nil {
				fail("a request failed: %v", err)
			}
			times[i] = time.Since(begun)
		}(i)
	}
	waiting.Wait()
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	us := func(at int) float64 { return float64(times[at].Nanoseconds()) / 1e3 }
	fmt.Printf("{\"count\": %d, \"p50_us\": %.1f, \"p99_us\": %.1f}\n", count, us(count/2), us(count*99/100))
}
