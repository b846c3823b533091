import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
    private static final VarHandle LONGS = view(long[].class);
    private static final VarHandle INTS = view(int[].class);
    private static final VarHandle SHORTS = view(short[].class);

    private static VarHandle view(Class<?> type) {
        return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.LITTLE_ENDIAN);
    }

    protected final Plan plan;
    private final Member member;
    private final ByteBuffer reused; // null: each message needs an array of its own
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
        reused = member.keepsPayloads() ? null : payloadOf(plan.size);
        next = new int[plan.senders];
    }

    abstract void run() throws InterruptedException;

    /** By one thread at a time. */
    abstract void receive(byte[] bytes, int offset, int length);

    abstract String result();

    private static ByteBuffer payloadOf(int size) {
        return ByteBuffer.wrap(new byte[size]).order(ByteOrder.LITTLE_ENDIAN);
    }

    protected void send(long intended, boolean last) {
        ByteBuffer payload = reused != null ? reused : payloadOf(plan.size);
        payload.putLong(0, intended).putInt(SEQUENCE_AT, sent++).putShort(SENDER_AT, (short) plan.member)
            .putShort(LAST_AT, (short) (last ? 1 : 0));
        member.send(payload.array());
    }

    protected void take(byte[] bytes, int offset, int length) {
        if (length != plan.size) MemberProgram.fail("a message of " + length + " bytes arrived instead of " + plan.size);
        intended = (long) LONGS.get(bytes, offset);
        sequence = (int) INTS.get(bytes, offset + SEQUENCE_AT);
        sender = (short) SHORTS.get(bytes, offset + SENDER_AT);
        last = (short) SHORTS.get(bytes, offset + LAST_AT) != 0;
        if (sender >= next.length) MemberProgram.fail("a message of an unknown sender arrived");
        if (sequence != next[sender]) {
            MemberProgram.fail("message " + sequence + " of sender " + sender + " arrived instead of " + next[sender]);
        }
        ++next[sender];
        ++count;
        digest = (digest ^ ((long) sender << 32 | sequence)) * 0x9e3779b97f4a7c15L;
        digest ^= digest >>> 29;
    }

    /** The last message of a sender has come, and all that is done with it. */
    protected void completeIfAllHaveCome() {
        if (++finished == next.length) complete.countDown();
    }

    protected void waitForAll() throws InterruptedException {
        complete.await();
    }

    protected static void sleepUntil(long when) {
        for (long left; (left = when - System.nanoTime()) > 0;) LockSupport.parkNanos(left);
    }
}
