import java.util.Map;

/** All times are nanoseconds of CLOCK_MONOTONIC, which is what System.nanoTime() reads on Linux. */
final class Plan {
    final int member;
    final int members;
    final int senders;
    final int size;
    final int window;
    final double rate; // messages a second of all members together
    private final double warmup;
    private final double seconds;
    // Written before the first message is sent.
    volatile long start;
    volatile long from = Long.MAX_VALUE;
    volatile long to = Long.MAX_VALUE;

    Plan(Map<String, String> options) {
        member = Integer.parseInt(options.get("--member"));
        members = Integer.parseInt(options.get("--members"));
        senders = Integer.parseInt(options.get("--senders"));
        size = Integer.parseInt(options.get("--size"));
        window = Integer.parseInt(options.get("--window"));
        rate = Double.parseDouble(options.get("--rate"));
        warmup = Double.parseDouble(options.get("--warmup"));
        seconds = Double.parseDouble(options.get("--seconds"));
    }

    void begin(long at) {
        start = at;
        from = start + (long) (warmup * 1e9);
        to = from + (long) (seconds * 1e9);
    }
}
