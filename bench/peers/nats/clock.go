package main

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic = 1
	absoluteTime   = 1 // TIMER_ABSTIME
)

// Go's own clock is the same one, and read without a system call, but says only how much time has passed.
var (
	goStart = time.Now()
	start   = readMonotonic()
)

func readMonotonic() int64 {
	var t syscall.Timespec
	_, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	if err != 0 {
		fail("there is no clock: %v", err)
	}
	return t.Nano()
}

// Nanoseconds of CLOCK_MONOTONIC.
func now() int64 { return start + int64(time.Since(goStart)) }

// time.Sleep is right to a millisecond only.
func sleepUntil(when int64) {
	t := syscall.NsecToTimespec(when)
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, absoluteTime,
			uintptr(unsafe.Pointer(&t)), 0, 0, 0)
		if err != syscall.EINTR {
			return
		}
	}
}
