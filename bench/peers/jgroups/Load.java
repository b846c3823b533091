import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** What both loads do alike: numbering and stamping what is sent, checking what arrives. */
abstract class Load {
    // Of the stamp at the front of every payload.
    private static final int SEQUENCE_AT = 8;
    private static final int SENDER_AT = 12;
    private static final int LAST_AT = 14;

    protected final Plan plan;
    private final Member member;
    private int sent;
    private final int[] next; // sequence number, by sender
    private int finished;
    private final CountDownLatch complete = new CountDownLatch(1);
    protected long count;
    protected long digest; // over all messages in the order of their arrival

    // The message that was taken last.
    protected long intended;
    protected int sequence;
    protected int sender;
    protected boolean last;

    protected Load(Plan plan, Member member) {
        this.plan = plan;
        this.member = member;
        next = new int[plan.senders];
    }

    abstract void run() throws InterruptedException;

    /** By one thread at a time. */
    abstract void receive(byte[] bytes, int offset, int length);

    abstract String result();

    /** JGroups keeps the array, for repetitions: each message needs one of its own. */
    protected void send(long intended, boolean last) {
        byte[] payload = new byte[plan.size];
        ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).putLong(intended).putInt(sent++)
            .putShort((short) plan.member).putShort((short) (last ? 1 : 0));
        member.send(payload);
    }

    protected void take(byte[] bytes, int offset, int length) {
        if (length != plan.size) Member.fail("a message of " + length + " bytes arrived instead of " + plan.size);
        ByteBuffer payload = ByteBuffer.wrap(bytes, offset, length).slice().order(ByteOrder.LITTLE_ENDIAN);
        intended = payload.getLong(0);
        sequence = payload.getInt(SEQUENCE_AT);
        sender = payload.getShort(SENDER_AT);
        last = payload.getShort(LAST_AT) != 0;
        if (sender >= next.length) Member.fail("a message of an unknown sender arrived");
        if (sequence != next[sender]) {
            Member.fail("message " + sequence + " of sender " + sender + " arrived instead of " + next[sender]);
        }
        ++next[sender];
        ++count;
        digest = (digest ^ ((long) sender << 32 | sequence)) * 0x9e3779b97f4a7c15L;
        digest ^= digest >>> 29;
        if (last && ++finished == next.length) complete.countDown();
    }

    protected void waitForAll() throws InterruptedException {
        complete.await();
    }

    protected static void sleepUntil(long when) {
        for (long left; (left = when - System.nanoTime()) > 0;) LockSupport.parkNanos(left);
    }
}
