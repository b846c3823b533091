/** What is sent, as bench/hosts/feeds/stream.h has it, and over which channel. */
final class Plan {
    static final int HEAD_BYTES = 16;

    boolean sends = false;
    double rate = 1000;
    int bytes = 1000;
    double warmup = 2;
    double seconds = 20;
    double rest = 1;
    double patience = 0.1;
    int receivers = 1;
    long backoffNs = 10_000_000; // what a request waits for those of others, at most
    long lingerNs = 60_000_000; // after a repair, requests for the same are not heard for so long
    String channel = "";
    String directory = "";

    Plan(String[] arguments) {
        for (int i = 0; i < arguments.length; ++i) {
            if (arguments[i].equals("--send")) {
                sends = true;
                continue;
            }
            if (i + 1 == arguments.length) Stream.fail(arguments[i] + " needs a value");
            take(arguments[i], arguments[++i]);
        }
        if (rate <= 0 || bytes < HEAD_BYTES) Stream.fail("there is no such stream");
    }

    private void take(String name, String value) {
        switch (name) {
            case "--rate": rate = Double.parseDouble(value); break;
            case "--bytes": bytes = Integer.parseInt(value); break;
            case "--warmup": warmup = Double.parseDouble(value); break;
            case "--seconds": seconds = Double.parseDouble(value); break;
            case "--rest": rest = Double.parseDouble(value); break;
            case "--patience": patience = Double.parseDouble(value); break;
            case "--receivers": receivers = Integer.parseInt(value); break;
            case "--backoff-ms": backoffNs = (long) (Double.parseDouble(value) * 1e6); break;
            case "--linger-ms": lingerNs = (long) (Double.parseDouble(value) * 1e6); break;
            case "--channel": channel = value; break;
            case "--directory": directory = value; break;
            default: Stream.fail("does not know " + name);
        }
    }

    /** The first message that is measured. */
    long first() {
        return (long) (rate * warmup);
    }

    /** How many are. */
    int count() {
        return (int) (rate * seconds);
    }

    /** With those before and after. */
    long total() {
        return first() + count() + (long) (rate * rest);
    }
}
