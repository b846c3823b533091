/** Messages leave at times fixed beforehand; latency counts from these. */
final class OpenLoop extends Load {
    /** At high rates, what is to be sent within so long is to be sent at once. */
    private static final double BURST_NANOSECONDS = 1e6;

    private final Histogram latency = new Histogram();
    private final Histogram sendLag = new Histogram();
    private long measured;

    OpenLoop(Plan plan, Member member) {
        super(plan, member);
    }

    @Override
    void run() throws InterruptedException {
        double interval = 1e9 * plan.members / plan.rate;
        long burst = Math.max(1, (long) (BURST_NANOSECONDS / interval));
        double offset = interval * burst * plan.member / plan.members;
        boolean isLast = false;
        for (long i = 0; !isLast; ++i) {
            long at = plan.start + (long) (offset + interval * (i - i % burst));
            if (i % burst == 0) sleepUntil(at);
            if (isMeasured(at)) sendLag.record(System.nanoTime() - at);
            isLast = at >= plan.to;
            send(at, isLast);
        }
        waitForAll();
    }

    @Override
    void receive(byte[] bytes, int offset, int length) {
        long arrived = System.nanoTime();
        take(bytes, offset, length);
        if (isMeasured(intended)) {
            latency.record(arrived - intended);
            ++measured;
        }
        if (last) completeIfAllHaveCome();
    }

    private boolean isMeasured(long at) {
        return at >= plan.from && at < plan.to;
    }

    @Override
    String result() {
        return String.format(
            "{\"messages\": %d, \"nanoseconds\": %d, \"digest\": \"%016x\", \"latency_ns\": %s, \"send_lag_ns\": %s}",
            measured, plan.to - plan.from, digest, latency.json(), sendLag.json());
    }
}
