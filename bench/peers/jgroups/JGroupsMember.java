import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.util.MessageBatch;

/** A member by JGroups. The stack for a service comes with an option of its name: --fifo udp.xml. */
final class JGroupsMember implements Member, Receiver {
    private final JChannel channel;
    private final String group;
    private final CountDownLatch complete = new CountDownLatch(1);
    private int members;
    private Member.Receiver receiver;

    private JGroupsMember(String stack, String group) throws Exception {
        this.group = group;
        channel = new JChannel(stack);
        channel.setReceiver(this);
    }

    @Override
    public void join(int members, Member.Receiver receiver) throws Exception {
        this.members = members;
        this.receiver = receiver;
        channel.connect(group);
        complete.await();
    }

    @Override
    public void send(byte[] payload) {
        try {
            channel.send(new BytesMessage(null, payload));
        } catch (Exception error) {
            MemberProgram.fail("cannot send: " + error);
        }
    }

    /** For repetitions. */
    @Override
    public boolean keepsPayloads() {
        return true;
    }

    /** JGroups blocks senders, and asks for that not to happen to the threads that deliver. */
    @Override
    public boolean mayReceiverSend() {
        return false;
    }

    @Override
    public void viewAccepted(View view) {
        if (view.size() == members) complete.countDown();
    }

    /** Messages of different senders may come in different threads; the load wants one at a time. */
    @Override
    public synchronized void receive(Message message) {
        take(message);
    }

    @Override
    public synchronized void receive(MessageBatch batch) {
        for (Message message : batch) take(message);
    }

    private void take(Message message) {
        receiver.receive(message.getArray(), message.getOffset(), message.getLength());
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        MemberProgram.run(arguments, options -> new JGroupsMember(options.get("--" + options.get("--service")),
            options.get("--group")));
    }
}
