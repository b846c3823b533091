import io.aeron.Aeron;
import io.aeron.ConcurrentPublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * A stream over Aeron, by multicast: its sender, or a receiver, with a media driver of its own. It speaks with
 * `tools/bench feeds` as bench/hosts/feeds/stream_program.h says.
 */
final class Stream {
    private static final int STREAM_ID = 1001;
    private static final int TERM_BYTES = 4 << 20;
    // What a receiver lets the sender be ahead of it: a loss that is repaired late must not stop the stream.
    private static final int WINDOW_BYTES = 1 << 20;
    // What waits for room at the sender.
    private static final int WAITING_BYTES = 1 << 17;
    private static final int FRAGMENTS_AT_ONCE = 16;
    private static final long CONNECT_NS = 20_000_000_000L;

    private final Plan plan;
    private final Aeron aeron;

    private Stream(Plan plan) {
        this.plan = plan;
        // All other settings are the defaults. One thread for all of a driver's agents, as its documentation advises
        // where there are few processors.
        MediaDriver.Context context = new MediaDriver.Context()
            .aeronDirectoryName(plan.directory)
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true)
            .threadingMode(ThreadingMode.SHARED)
            .publicationTermBufferLength(TERM_BYTES)
            .publicationTermWindowLength(WAITING_BYTES)
            .initialWindowLength(WINDOW_BYTES)
            .socketRcvbufLength(2 * WINDOW_BYTES)
            .retransmitUnicastLingerNs(plan.lingerNs)
            .nakMulticastMaxBackoffNs(plan.backoffNs)
            .nakMulticastGroupSize(Math.max(2, plan.receivers))
            .errorHandler(error -> System.err.println("aeron: " + error));
        MediaDriver driver = MediaDriver.launch(context);
        aeron = Aeron.connect(new Aeron.Context()
            .aeronDirectoryName(driver.aeronDirectoryName())
            .errorHandler(error -> fail(error.toString())));
    }

    static void fail(String text) {
        System.err.println("aeron_client: " + text);
        System.err.flush();
        Runtime.getRuntime().halt(1);
    }

    private static BufferedReader input() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    }

    private void send() throws IOException {
        // The slowest receiver counts, and all have to be there.
        String flow = "|fc=min,g:/" + plan.receivers;
        try (ConcurrentPublication publication = aeron.addPublication(plan.channel + flow, STREAM_ID);
             BufferedReader input = input()) {
            System.out.println("ready");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] words = line.split(" ");
                if (words.length != 2 || !words[0].equals("go")) fail("does not know " + line);
                long deadline = System.nanoTime() + CONNECT_NS;
                while (!publication.isConnected()) {
                    if (System.nanoTime() > deadline) fail("the receivers do not come");
                    LockSupport.parkNanos(1_000_000);
                }
                System.out.println(new Sender(plan, publication).run(Long.parseLong(words[1])));
            }
        }
    }

    private void receive() throws IOException {
        Sink sink = new Sink(plan);
        Subscription subscription = aeron.addSubscription(plan.channel, STREAM_ID);
        Thread thread = new Thread(() -> {
            // As Aeron's own defaults.
            IdleStrategy idle = new BackoffIdleStrategy(10, 20, 1_000, 1_000_000);
            while (!Thread.currentThread().isInterrupted()) idle.idle(subscription.poll(sink, FRAGMENTS_AT_ONCE));
        });
        thread.setDaemon(true);
        thread.start();
        try (BufferedReader input = input()) {
            System.out.println("ready");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                switch (line) {
                    case "count":
                        System.out.println(sink.counts());
                        break;
                    case "end":
                        System.out.println(sink.result());
                        break;
                    default:
                        fail("does not know " + line);
                }
            }
        }
        thread.interrupt();
    }

    public static void main(String[] arguments) throws IOException {
        Plan plan = new Plan(arguments);
        Stream stream = new Stream(plan);
        if (plan.sends) {
            stream.send();
        } else {
            stream.receive();
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
