import java.util.concurrent.Semaphore;

/**
 * As soon as an own message has come back, the next one leaves: sent by who receives, or where that may not send, by a
 * thread that does nothing else.
 */
final class ClosedLoop extends Load {
    private static final int DELIVERIES_PER_LOOK = 16;

    private final boolean sendsWhereItReceives;
    private volatile long now;
    private final Semaphore room = new Semaphore(0); // own messages that may be sent, by a thread of its own
    private int outstanding; // own messages, by who receives
    private boolean stopped;
    // When the measurement really began and ended, how much had arrived by then, and what objects had taken.
    private long fromAt;
    private long toAt;
    private long countFrom;
    private long countTo;
    private long bytesFrom;
    private long bytesTo;

    ClosedLoop(Plan plan, Member member) {
        super(plan, member);
        sendsWhereItReceives = member.mayReceiverSend();
    }

    @Override
    void run() throws InterruptedException {
        sleepUntil(plan.start);
        if (plan.member < plan.senders) {
            // The first message only: when it has come back, there is room for the rest of the window.
            send(plan.start, false);
            if (!sendsWhereItReceives) keepSending();
        }
        waitForAll();
    }

    private void keepSending() throws InterruptedException {
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
        if (sender == plan.member && !last) goOn();
        if (last) completeIfAllHaveCome();
    }

    private void goOn() {
        if (!sendsWhereItReceives) {
            room.release(sequence == 0 ? plan.window : 1);
            return;
        }
        if (sequence != 0) --outstanding;
        if (!stopped) stopped = now >= plan.to;
        for (; !stopped && outstanding < plan.window; ++outstanding) send(now, false);
        if (stopped && outstanding == 0) send(now, true);
    }

    private void lookAtClock() {
        now = System.nanoTime();
        if (fromAt == 0 && now >= plan.from) {
            bytesFrom = Allocation.bytes();
            fromAt = now;
            countFrom = count;
        }
        if (toAt == 0 && now >= plan.to) {
            bytesTo = Allocation.bytes();
            toAt = now;
            countTo = count;
        }
    }

    @Override
    String result() {
        return String.format(
            "{\"messages\": %d, \"nanoseconds\": %d, \"total\": %d, \"total_ns\": %d, \"digest\": \"%016x\", "
                + "\"allocated_bytes\": %d}",
            countTo - countFrom, toAt - fromAt, count, now - plan.start, digest, bytesTo - bytesFrom);
    }
}
