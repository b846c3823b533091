package main

import (
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

const greetEvery = 20 * time.Millisecond

// Member sends to and receives from one subject, with the Go client as its documentation shows it: an asynchronous
// subscription, and publishing without flushing.
type Member struct {
	connection *nats.Conn
	subject    string
	index      int
	greeted    chan struct{}
}

func connect(address, identity, subject string, index int) *Member {
	options := []nats.Option{nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		fail("%v", err)
	}), nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
		fail("disconnected: %v", err)
	})}
	if identity != "" {
		options = append(options, nats.RootCAs(identity), nats.ClientCert(identity, identity))
	}
	connection, err := nats.Connect(address, options...)
	if err != nil {
		fail("cannot connect to %s: %v", address, err)
	}
	return &Member{connection, subject, index, make(chan struct{})}
}

// Subscribes, and returns once everybody's messages arrive here. There is no membership in NATS: members greet each
// other on a second subject until they are told to start. Interest travels in order, so where greetings arrive,
// messages will too.
func (m *Member) join(members int, receive func([]byte)) {
	subscription := m.subscribe(m.subject, func(message *nats.Msg) { receive(message.Data) })
	// The documentation's advice for a subscriber that must not lose anything to the client's own limits.
	if err := subscription.SetPendingLimits(-1, -1); err != nil {
		fail("cannot lift limits: %v", err)
	}
	seen := make(map[string]bool)
	complete := make(chan struct{})
	m.subscribe(m.subject+".greeting", func(message *nats.Msg) {
		if from := string(message.Data); !seen[from] {
			seen[from] = true
			if len(seen) == members {
				close(complete)
			}
		}
	})
	go func() {
		for {
			m.publish(m.subject+".greeting", []byte(strconv.Itoa(m.index)))
			select {
			case <-m.greeted:
				return
			case <-time.After(greetEvery):
			}
		}
	}()
	<-complete
}

func (m *Member) endGreeting() { close(m.greeted) }

func (m *Member) send(payload []byte) { m.publish(m.subject, payload) }

func (m *Member) publish(subject string, payload []byte) {
	if err := m.connection.Publish(subject, payload); err != nil {
		fail("cannot send: %v", err)
	}
}

func (m *Member) subscribe(subject string, handler nats.MsgHandler) *nats.Subscription {
	subscription, err := m.connection.Subscribe(subject, handler)
	if err != nil {
		fail("cannot subscribe: %v", err)
	}
	return subscription
}
