import java.util.Arrays;

/** The buckets of bench/hosts/cluster/histogram.h: exact below 128 ns, then 64 for each doubling. */
final class Histogram {
    private static final int EXACT = 128;
    private static final int PER_DOUBLING = 64;

    private long[] counts = new long[EXACT];

    void record(long nanoseconds) {
        long value = Math.max(0, nanoseconds);
        int bucket = (int) value;
        if (value >= EXACT) {
            int shift = 64 - Long.numberOfLeadingZeros(value) - 7;
            bucket = EXACT + (shift - 1) * PER_DOUBLING + (int) (value >> shift) - PER_DOUBLING;
        }
        if (counts.length <= bucket) counts = Arrays.copyOf(counts, bucket + 1);
        ++counts[bucket];
    }

    String json() {
        StringBuilder json = new StringBuilder("[");
        for (int bucket = 0; bucket < counts.length; ++bucket) {
            if (counts[bucket] == 0) continue;
            long middle = bucket;
            if (bucket >= EXACT) {
                int shift = (bucket - EXACT) / PER_DOUBLING + 1;
                long low = (long) (PER_DOUBLING + (bucket - EXACT) % PER_DOUBLING) << shift;
                middle = low + (1L << shift) / 2;
            }
            json.append(json.length() == 1 ? "" : ", ").append('[').append(middle).append(", ").append(counts[bucket])
                .append(']');
        }
        return json.append(']').toString();
    }
}
