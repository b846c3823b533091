import java.util.concurrent.Semaphore;

/** As soon as an own message has come back, the next one leaves. */
final class ClosedLoop extends Load {
    private static final int DELIVERIES_PER_LOOK = 16;

    private volatile long now;
    // Own messages that may be sent. JGroups blocks senders, and asks for that not to happen to the threads that
    // deliver: a thread of its own sends.
    private final Semaphore room = new Semaphore(0);
    // When the measurement really began and ended, and how much had arrived by then.
    private long fromAt;
    private long toAt;
    private long countFrom;
    private long countTo;

    ClosedLoop(Plan plan, Member member) {
        super(plan, member);
    }

    @Override
    void run() throws InterruptedException {
        sleepUntil(plan.start);
        if (plan.member < plan.senders) keepSending();
        waitForAll();
    }

    private void keepSending() throws InterruptedException {
        // The first message only: when it has come back, there is room for the rest of the window.
        send(plan.start, false);
        int free = 0;
        while (now < plan.to) {
            if (free == 0) {
                room.acquire();
                free = 1 + room.drainPermits();
            }
            send(now, false);
            --free;
        }
        room.acquire(plan.window - free);
        send(now, true);
    }

    @Override
    void receive(byte[] bytes, int offset, int length) {
        if (count % DELIVERIES_PER_LOOK == 0) lookAtClock();
        take(bytes, offset, length);
        if (last) lookAtClock(); // it may come so soon after the end that no look was due since
        if (sender == plan.member && !last) room.release(sequence == 0 ? plan.window : 1);
    }

    private void lookAtClock() {
        now = System.nanoTime();
        if (fromAt == 0 && now >= plan.from) {
            fromAt = now;
            countFrom = count;
        }
        if (toAt == 0 && now >= plan.to) {
            toAt = now;
            countTo = count;
        }
    }

    @Override
    synchronized String result() {
        return String.format(
            "{\"messages\": %d, \"nanoseconds\": %d, \"total\": %d, \"total_ns\": %d, \"digest\": \"%016x\"}",
            countTo - countFrom, toAt - fromAt, count, now - plan.start, digest);
    }
}
