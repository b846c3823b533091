import io.aeron.ConcurrentPublication;
import io.aeron.Publication;
import java.nio.ByteOrder;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;

/** Sends at a rate; a message that finds no room waits, and all behind it. See bench/hosts/feeds/stream.cpp. */
final class Sender {
    private static final long RETRY_NS = 200_000;

    private final Plan plan;
    private final ConcurrentPublication publication;
    private final UnsafeBuffer message;
    private long oldest = 0;
    private boolean isWaiting = false;
    private long sent = 0;
    private long dropped = 0;
    private long lagMaxNs = 0;

    Sender(Plan plan, ConcurrentPublication publication) {
        this.plan = plan;
        this.publication = publication;
        message = new UnsafeBuffer(new byte[plan.bytes]);
    }

    String run(long start) {
        long total = plan.total();
        long patience = (long) (plan.patience * 1e9);
        while (oldest < total) {
            long now = System.nanoTime();
            for (; isWaiting && oldest < total && now - due(start) > patience; ++oldest) ++dropped;
            if (oldest == total) break;
            long due = due(start);
            if (due > now) {
                LockSupport.parkNanos(due - now);
            } else if (send(due)) {
                if (oldest >= plan.first()) lagMaxNs = Math.max(lagMaxNs, now - due);
                ++oldest;
            } else {
                LockSupport.parkNanos(RETRY_NS);
            }
        }
        return "{\"sent\": " + sent + ", \"dropped\": " + dropped + ", \"lag_max_ns\": " + lagMaxNs + "}";
    }

    private long due(long start) {
        return start + (long) (oldest * 1e9 / plan.rate);
    }

    private boolean send(long due) {
        message.putLong(0, due, ByteOrder.nativeOrder());
        message.putLong(8, oldest, ByteOrder.nativeOrder());
        long position = publication.offer(message, 0, plan.bytes);
        isWaiting = position < 0;
        if (!isWaiting) {
            ++sent;
        } else if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            Stream.fail("cannot send: " + position);
        }
        return !isWaiting;
    }
}
