import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.nio.ByteOrder;
import java.util.BitSet;
import org.agrona.DirectBuffer;

/** Counts what has come, as bench/hosts/feeds/stream_sink.h does. Messages are one fragment each. */
final class Sink implements FragmentHandler {
    private final long first;
    private final int count;
    private final BitSet hasCome;
    private final Histogram latency = new Histogram();
    private long messages = 0;
    private long bytes = 0;
    private long received = 0;
    private long duplicates = 0;
    private long disordered = 0;
    private long highest = 0;
    private long latencyMaxNs = 0;

    Sink(Plan plan) {
        first = plan.first();
        count = plan.count();
        hasCome = new BitSet(count);
    }

    @Override
    public synchronized void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        long now = System.nanoTime();
        if (length < Plan.HEAD_BYTES) Stream.fail("a message of " + length + " bytes came");
        long due = buffer.getLong(offset, ByteOrder.nativeOrder());
        long number = buffer.getLong(offset + 8, ByteOrder.nativeOrder());
        ++messages;
        bytes += length;
        if (number < first || number - first >= count) return;
        int index = (int) (number - first);
        if (hasCome.get(index)) {
            ++duplicates;
            return;
        }
        hasCome.set(index);
        ++received;
        if (number < highest) ++disordered;
        highest = Math.max(highest, number);
        latency.record(now - due);
        latencyMaxNs = Math.max(latencyMaxNs, now - due);
    }

    synchronized String counts() {
        return "{\"messages\": " + messages + ", \"bytes\": " + bytes + "}";
    }

    synchronized String result() {
        return "{\"received\": " + received + ", \"lost\": " + (count - received) + ", \"duplicates\": " + duplicates
            + ", \"disordered\": " + disordered + ", \"max_ns\": " + latencyMaxNs + ", \"latency_ns\": "
            + latency.json() + "}";
    }
}
