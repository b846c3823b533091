import java.io.OutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.util.MessageBatch;

/**
 * One sender-receiver of a measurement of JGroups. It speaks with `tools/bench cluster` as
 * bench/hosts/cluster/member_program.h says, and its loads are those of bench/hosts/cluster/load.h. The stack for a
 * service comes with an option of its name: --fifo udp.xml.
 */
final class Member implements Receiver {
    private final JChannel channel;
    private final int members;
    private final CountDownLatch complete = new CountDownLatch(1);
    private final Load load;

    private Member(Plan plan, String stack, boolean openLoop) throws Exception {
        members = plan.members;
        load = openLoop ? new OpenLoop(plan, this) : new ClosedLoop(plan, this);
        channel = new JChannel(stack);
        channel.setReceiver(this);
    }

    static void fail(String text) {
        System.err.println("jgroups_client: " + text);
        System.err.flush();
        Runtime.getRuntime().halt(1);
    }

    void send(byte[] payload) {
        try {
            channel.send(new BytesMessage(null, payload));
        } catch (Exception error) {
            fail("cannot send: " + error);
        }
    }

    @Override
    public void viewAccepted(View view) {
        if (view.size() == members) complete.countDown();
    }

    /** Messages of different senders may come in different threads; the load wants one at a time. */
    @Override
    public void receive(Message message) {
        synchronized (load) {
            take(message);
        }
    }

    @Override
    public void receive(MessageBatch batch) {
        synchronized (load) {
            for (Message message : batch) take(message);
        }
    }

    private void take(Message message) {
        load.receive(message.getArray(), message.getOffset(), message.getLength());
    }

    public static void main(String[] arguments) throws Exception {
        // Standard output is for tools/bench alone; JGroups greets there.
        PrintStream answers = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Logger.getLogger("").setLevel(Level.SEVERE);
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < arguments.length; i += 2) options.put(arguments[i], arguments[i + 1]);
        Plan plan = new Plan(options);
        String stack = options.get("--" + options.get("--service"));
        Member member = new Member(plan, stack, options.get("--measure").equals("latency"));
        member.channel.connect(options.get("--group"));
        member.complete.await();
        answers.println("ready");

        String[] go = readLine().split(" ");
        if (go.length != 2 || !go[0].equals("go")) fail("standard input does not say \"go <nanoseconds>\"");
        plan.begin(Long.parseLong(go[1]));
        member.load.run();
        answers.println(member.load.result());
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }

    private static String readLine() throws Exception {
        StringBuilder line = new StringBuilder();
        for (int c = System.in.read(); c >= 0 && c != '\n'; c = System.in.read()) line.append((char) c);
        return line.toString();
    }
}
