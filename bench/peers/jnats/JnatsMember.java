import io.nats.client.Connection;
import io.nats.client.ConnectionListener.Events;
import io.nats.client.Consumer;
import io.nats.client.Dispatcher;
import io.nats.client.ErrorListener;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A member by jnats, NATS' client for Java, as its documentation shows it: a dispatcher with a handler, and publishing
 * without flushing. Where a message is lost or late the load finds out.
 */
final class JnatsMember implements Member {
    private static final int GREET_MILLIS = 20;

    private final Connection connection;
    private final String subject;
    private final byte[] name;
    private final CountDownLatch begun = new CountDownLatch(1);

    private JnatsMember(String address, String subject, String name) throws Exception {
        this.subject = subject;
        this.name = name.getBytes(StandardCharsets.UTF_8);
        Options options = new Options.Builder()
            .server(address)
            .noReconnect()
            .connectionListener((connection, event) -> {
                if (event == Events.DISCONNECTED) MemberProgram.fail("disconnected");
            })
            .errorListener(new Listener())
            .build();
        connection = Nats.connect(options);
    }

    private static final class Listener implements ErrorListener {
        @Override
        public void errorOccurred(Connection connection, String error) {
            MemberProgram.fail(error);
        }

        @Override
        public void exceptionOccurred(Connection connection, Exception error) {
            MemberProgram.fail(error.toString());
        }

        @Override
        public void slowConsumerDetected(Connection connection, Consumer consumer) {
            MemberProgram.fail("jnats drops messages");
        }
    }

    /**
     * Returns once everybody's messages arrive here. There is no membership in NATS: members greet each other on a second
     * subject until they are told to start. Interest travels in order, so where greetings arrive, messages will too.
     */
    @Override
    public void join(int members, Member.Receiver receiver) throws Exception {
        Dispatcher dispatcher = connection.createDispatcher(message -> {
            byte[] data = message.getData();
            receiver.receive(data, 0, data.length);
        });
        dispatcher.setPendingLimits(-1, -1); // none: what is dropped is missed
        dispatcher.subscribe(subject);
        Set<String> seen = ConcurrentHashMap.newKeySet();
        CountDownLatch complete = new CountDownLatch(members);
        Dispatcher greetings = connection.createDispatcher(message -> {
            if (seen.add(new String(message.getData(), StandardCharsets.UTF_8))) complete.countDown();
        });
        greetings.subscribe(subject + ".greeting");
        connection.flush(Duration.ofSeconds(5));
        Thread greeter = new Thread(this::greet);
        greeter.setDaemon(true);
        greeter.start();
        complete.await();
    }

    private void greet() {
        try {
            do {
                connection.publish(subject + ".greeting", name);
            } while (!begun.await(GREET_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void begin() {
        begun.countDown();
    }

    /** Until another thread has written it. */
    @Override
    public boolean keepsPayloads() {
        return true;
    }

    @Override
    public void send(byte[] payload) {
        connection.publish(subject, payload);
    }

    public static void main(String[] arguments) throws Exception {
        MemberProgram.run(arguments, options -> new JnatsMember(options.get("--address"), options.get("--group"),
            options.get("--member")));
    }
}
