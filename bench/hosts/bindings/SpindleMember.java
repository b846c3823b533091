import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.JoinOptions;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.Service;
import io.spindle.Spindle;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A member by the Java client. The connection's thread calls it with events, as in the member in C++. */
final class SpindleMember implements Member {
    private final Connection connection;
    private final String group;
    private final Destinations to;
    private final Service service;
    private final CountDownLatch complete = new CountDownLatch(1);
    private Receiver receiver;
    private int members;

    private SpindleMember(Map<String, String> options) {
        group = options.get("--group");
        to = Destinations.of(group);
        service = Service.valueOf(options.get("--service").toUpperCase(Locale.ROOT));
        connection = Spindle.connect(ConnectOptions.at(options.get("--address"))
            .withReconnectTimeout(Duration.ZERO) // what is lost is a failed measurement
            .withExecutor(Runnable::run));
    }

    @Override
    public void join(int members, Receiver receiver) throws Exception {
        this.members = members;
        this.receiver = receiver;
        connection.onEvent(this::take);
        connection.requestJoin(Name.of(group), JoinOptions.DEFAULT);
        complete.await();
    }

    private void take(Event event) {
        if (event instanceof Message message) {
            byte[] payload = message.payload();
            receiver.receive(payload, 0, payload.length);
        } else if (event instanceof GroupView view && view.memberCount() == members) {
            complete.countDown();
        } else if (event instanceof RequestFailed || event instanceof Reconnected || event instanceof Disconnected) {
            MemberProgram.fail(event.toString());
        }
    }

    @Override
    public void send(byte[] payload) {
        connection.multicast(service, to, payload);
    }

    public static void main(String[] arguments) throws Exception {
        MemberProgram.run(arguments, SpindleMember::new);
    }
}
