import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** How much memory the threads of this program have been given for objects. */
final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /** Bytes since they began, of those that run. */
    static long bytes() {
        long sum = 0;
        for (long each : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) sum += Math.max(0, each);
        return sum;
    }
}
