// nats_client: one sender-receiver of a measurement of NATS. It speaks with `tools/bench cluster` as
// bench/hosts/cluster/member_program.h says, and its loads are those of bench/hosts/cluster/load.h.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// Plan has all times in nanoseconds of CLOCK_MONOTONIC.
type Plan struct {
	member, members, senders int
	size, window             int
	rate                     float64 // messages a second of all members together
	start, from, to          int64
}

type load interface {
	receive(payload []byte)
	run()
	result() string
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "nats_client: "+format+"\n", arguments...)
	os.Exit(1)
}

func main() {
	var plan Plan
	address := flag.String("address", "nats://127.0.0.1:4222", "where the server of this member listens")
	identity := flag.String("identity", "", "file of a certificate and of its key, for TLS; the server's is the same")
	group := flag.String("group", "bench", "the subject")
	measure := flag.String("measure", "throughput", "throughput, latency, requests, or answers to those of another one")
	service := flag.String("service", "fifo", "fifo is what NATS has")
	warmup := flag.Float64("warmup", 1, "seconds before the measurement")
	seconds := flag.Float64("seconds", 3, "seconds of the measurement")
	flag.IntVar(&plan.member, "member", 0, "index of this member, from 0")
	flag.IntVar(&plan.members, "members", 1, "members in all")
	flag.IntVar(&plan.senders, "senders", 1, "members that send, the first ones")
	flag.IntVar(&plan.size, "size", 100, "bytes of a message")
	flag.IntVar(&plan.window, "window", 1, "throughput: own messages under way")
	flag.Float64Var(&plan.rate, "rate", 0, "latency: messages a second of all members together")
	flag.Parse()
	if *service != "fifo" {
		fail("there is no service %s", *service)
	}

	member := connect(*address, *identity, *group, plan.member)
	switch *measure {
	case "requests":
		member.measureRequests(plan.size, plan.rate, *seconds)
		return
	case "answers":
		member.answerRequests()
		return
	}
	var work load
	if *measure == "latency" {
		work = newOpenLoop(&plan, member)
	} else {
		work = newClosedLoop(&plan, member)
	}
	member.join(plan.members, work.receive)
	fmt.Println("ready")
	input := bufio.NewReader(os.Stdin)
	if _, err := fmt.Fscanf(input, "go %d\n", &plan.start); err != nil {
		fail("standard input does not say \"go <nanoseconds>\"")
	}
	member.endGreeting()
	plan.from = plan.start + int64(*warmup*float64(time.Second))
	plan.to = plan.from + int64(*seconds*float64(time.Second))
	work.run()
	fmt.Println(work.result())
	io.Copy(io.Discard, input)
}
