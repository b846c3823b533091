package io.spindle;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import javax.net.ssl.SSLContext;

/**
 * With what a connection is made: the default, and what differs from it.
 *
 * <pre>{@code
 * ConnectOptions.at("tls:alpha", "tls:beta").withName("ann").withTlsBundle(Path.of("ann.pem"))
 * }</pre>
 */
public final class ConnectOptions {
  /** A daemon of this host, and what else is right for most programs. */
  public static final ConnectOptions DEFAULT = new ConnectOptions();

  private List<String> addresses = List.of();
  private String name = "";
  private Path tlsBundle;
  private Path tlsRevocationLists;
  private SSLContext sslContext;
  private String token = "";
  private Duration connectTimeout = Duration.ofSeconds(5);
  private Duration reconnectTimeout = Duration.ofSeconds(60);
  private boolean resume = true;
  private Duration keepalive = Duration.ofSeconds(10);
  private Duration sendTimeout;
  private Duration disconnectTimeout = Duration.ofSeconds(1);
  private int sendBufferBytes = 1 << 20;
  private long receiveBufferBytes = 8L << 20;
  private boolean independentFlows;
  private SlowPolicy slowPolicy = SlowPolicy.DAEMON_DEFAULT;
  private BulkOptions bulk;
  private ThreadFactory threadFactory;
  private Executor executor;

  private ConnectOptions() {}

  private ConnectOptions(ConnectOptions from) {
    addresses = from.addresses;
    name = from.name;
    tlsBundle = from.tlsBundle;
    tlsRevocationLists = from.tlsRevocationLists;
    sslContext = from.sslContext;
    token = from.token;
    connectTimeout = from.connectTimeout;
    reconnectTimeout = from.reconnectTimeout;
    resume = from.resume;
    keepalive = from.keepalive;
    sendTimeout = from.sendTimeout;
    disconnectTimeout = from.disconnectTimeout;
    sendBufferBytes = from.sendBufferBytes;
    receiveBufferBytes = from.receiveBufferBytes;
    independentFlows = from.independentFlows;
    slowPolicy = from.slowPolicy;
    bulk = from.bulk;
    threadFactory = from.threadFactory;
    executor = from.executor;
  }

  /**
   * The default, with addresses.
   *
   * @param addresses of daemons
   * @return the options
   */
  public static ConnectOptions at(String... addresses) {
    return DEFAULT.withAddresses(List.of(addresses));
  }

  /**
   * The default, with a name.
   *
   * @param name of the client
   * @return the options
   */
  public static ConnectOptions named(String name) {
    return DEFAULT.withName(name);
  }

  /**
   * Where daemons are, tried in this order, each "unix:/path" or "/path"; "tls:host:port" or "tls:host";
   * "tcp:host:port", "host:port" or "host" (port 4803); IPv6 addresses in brackets. What is sent by "tcp:" can
   * be read and altered on its way. None: what the environment variable SPINDLE_ADDRESS says, otherwise the
   * socket of a daemon of this host.
   *
   * @return what holds
   */
  public List<String> addresses() {
    return addresses;
  }

  /**
   * These, with another {@link #addresses}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withAddresses(List<String> value) {
    ConnectOptions made = new ConnectOptions(this);
    made.addresses = List.copyOf(value);
    return made;
  }

  /**
   * Of the client, 1 to 64 printable characters other than '#' and space; empty: the daemon chooses.
   *
   * @return what holds
   */
  public String name() {
    return name;
  }

  /**
   * These, with another {@link #name}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withName(String value) {
    ConnectOptions made = new ConnectOptions(this);
    made.name = value;
    return made;
  }

  /**
   * For "tls:", a file of PEM with the CA certificates of the cluster, and the key and certificate of this
   * client, as {@code spmonitor pki} makes it; null: what the environment variable SPINDLE_TLS_BUNDLE says.
   *
   * @return what holds
   */
  public Path tlsBundle() {
    return tlsBundle;
  }

  /**
   * These, with another {@link #tlsBundle}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withTlsBundle(Path value) {
    ConnectOptions made = new ConnectOptions(this);
    made.tlsBundle = value;
    return made;
  }

  /**
   * For "tls:", a file of PEM with lists of revoked certificates; null: what the environment variable
   * SPINDLE_REVOCATION_LISTS says, or none.
   *
   * @return what holds
   */
  public Path tlsRevocationLists() {
    return tlsRevocationLists;
  }

  /**
   * These, with another {@link #tlsRevocationLists}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withTlsRevocationLists(Path value) {
    ConnectOptions made = new ConnectOptions(this);
    made.tlsRevocationLists = value;
    return made;
  }

  /**
   * For "tls:", a context that is used instead of those two; the daemon's certificate is held to the name of a
   * daemon all the same.
   *
   * @return what holds
   */
  public SSLContext sslContext() {
    return sslContext;
  }

  /**
   * These, with another {@link #sslContext}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withSslContext(SSLContext value) {
    ConnectOptions made = new ConnectOptions(this);
    made.sslContext = value;
    return made;
  }

  /**
   * A secret by which the client proves who it is; sent only by "tls:" and to a unix socket; empty: what the
   * environment variable SPINDLE_TOKEN holds, or else none.
   *
   * @return what holds
   */
  public String token() {
    return token;
  }

  /**
   * These, with another {@link #token}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withToken(String value) {
    ConnectOptions made = new ConnectOptions(this);
    made.token = value;
    return made;
  }

  /**
   * Bounds connecting; null: it takes as long as it takes.
   *
   * @return what holds
   */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  /**
   * These, with another {@link #connectTimeout}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withConnectTimeout(Duration value) {
    ConnectOptions made = new ConnectOptions(this);
    made.connectTimeout = value;
    return made;
  }

  /**
   * For how long a lost connection is tried to be had again; zero: the loss is the end. Each attempt has
   * {@link #connectTimeout}; where less than that is left, its share of what is left, 5 s at least.
   *
   * @return what holds
   */
  public Duration reconnectTimeout() {
    return reconnectTimeout;
  }

  /**
   * These, with another {@link #reconnectTimeout}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withReconnectTimeout(Duration value) {
    ConnectOptions made = new ConnectOptions(this);
    made.reconnectTimeout = value;
    return made;
  }

  /**
   * Whether the daemon is asked to keep the session for a while where its connection is lost; never on a unix
   * socket.
   *
   * @return what holds
   */
  public boolean resume() {
    return resume;
  }

  /**
   * These, with another {@link #resume}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withResume(boolean value) {
    ConnectOptions made = new ConnectOptions(this);
    made.resume = value;
    return made;
  }

  /**
   * How often both sides show that they are there; zero: never.
   *
   * @return what holds
   */
  public Duration keepalive() {
    return keepalive;
  }

  /**
   * These, with another {@link #keepalive}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withKeepalive(Duration value) {
    ConnectOptions made = new ConnectOptions(this);
    made.keepalive = value;
    return made;
  }

  /**
   * How long a call waits for room where it says nothing else; null: as long as it takes.
   *
   * @return what holds
   */
  public Duration sendTimeout() {
    return sendTimeout;
  }

  /**
   * These, with another {@link #sendTimeout}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withSendTimeout(Duration value) {
    ConnectOptions made = new ConnectOptions(this);
    made.sendTimeout = value;
    return made;
  }

  /**
   * How long disconnecting waits until the daemon has taken what was sent.
   *
   * @return what holds
   */
  public Duration disconnectTimeout() {
    return disconnectTimeout;
  }

  /**
   * These, with another {@link #disconnectTimeout}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withDisconnectTimeout(Duration value) {
    ConnectOptions made = new ConnectOptions(this);
    made.disconnectTimeout = value;
    return made;
  }

  /**
   * Beyond this many bytes not yet taken by the daemon, sending waits.
   *
   * @return what holds
   */
  public int sendBufferBytes() {
    return sendBufferBytes;
  }

  /**
   * These, with another {@link #sendBufferBytes}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withSendBufferBytes(int value) {
    ConnectOptions made = new ConnectOptions(this);
    made.sendBufferBytes = value;
    return made;
  }

  /**
   * Beyond this much memory in events not yet received, nothing is read from the daemon until an eighth is free
   * again.
   *
   * @return what holds
   */
  public long receiveBufferBytes() {
    return receiveBufferBytes;
  }

  /**
   * These, with another {@link #receiveBufferBytes}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withReceiveBufferBytes(long value) {
    ConnectOptions made = new ConnectOptions(this);
    made.receiveBufferBytes = value;
    return made;
  }

  /**
   * Whether each set of destinations is a flow of its own, which holds up nothing but itself where it may not
   * enter.
   *
   * @return what holds
   */
  public boolean independentFlows() {
    return independentFlows;
  }

  /**
   * These, with another {@link #independentFlows}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withIndependentFlows(boolean value) {
    ConnectOptions made = new ConnectOptions(this);
    made.independentFlows = value;
    return made;
  }

  /**
   * What the daemon does where this client does not read.
   *
   * @return what holds
   */
  public SlowPolicy slowPolicy() {
    return slowPolicy;
  }

  /**
   * These, with another {@link #slowPolicy}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withSlowPolicy(SlowPolicy value) {
    ConnectOptions made = new ConnectOptions(this);
    made.slowPolicy = value;
    return made;
  }

  /**
   * How the content of {@link Bulk} channels is worked on; null: this client hears of none.
   *
   * @return what holds
   */
  public BulkOptions bulk() {
    return bulk;
  }

  /**
   * These, with another {@link #bulk}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withBulk(BulkOptions value) {
    ConnectOptions made = new ConnectOptions(this);
    made.bulk = value;
    return made;
  }

  /**
   * These, with bulk channels by {@link BulkOptions#DEFAULT}.
   *
   * @return the options
   */
  public ConnectOptions withBulk() {
    return withBulk(BulkOptions.DEFAULT);
  }

  /**
   * Makes the connection's threads: one that reads and writes, and one for a while where it connects; null:
   * daemon threads.
   *
   * @return what holds
   */
  public ThreadFactory threadFactory() {
    return threadFactory;
  }

  /**
   * These, with another {@link #threadFactory}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withThreadFactory(ThreadFactory value) {
    ConnectOptions made = new ConnectOptions(this);
    made.threadFactory = value;
    return made;
  }

  /**
   * Calls the subscriber of {@link Connection#events}; null: the common pool. {@code Runnable::run} has the
   * connection's thread call it, which saves a change of threads for each batch: such a subscriber should be brief, and
   * calls that wait throw WOULD_BLOCK there.
   *
   * @return what holds
   */
  public Executor executor() {
    return executor;
  }

  /**
   * These, with another {@link #executor}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public ConnectOptions withExecutor(Executor value) {
    ConnectOptions made = new ConnectOptions(this);
    made.executor = value;
    return made;
  }

  /** Without the token. */
  @Override
  public String toString() {
    return "ConnectOptions[addresses=" + addresses + ", name=" + name + "]";
  }
}
