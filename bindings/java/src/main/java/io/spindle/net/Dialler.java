package io.spindle.net;

import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.SpindleException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import jdk.net.ExtendedSocketOptions;

/** Connects, on a thread of its own, which is left behind where nobody waits any more. */
final class Dialler {
  /** A connection on which nothing has been said yet, and the token that may be shown there; or why there is none. */
  record Outcome(Link link, String token, Code code, String text) {}

  private static final class Call {
    final ReentrantLock lock = new ReentrantLock(); // guards what follows
    Outcome outcome;
    SocketChannel channel; // that is being connected
    boolean isAbandoned;
  }

  private final ConnectOptions options;
  private final ThreadFactory threads;
  private Call call; // null: none

  Dialler(ConnectOptions options, ThreadFactory threads) {
    this.options = options;
    this.threads = threads;
  }

  /** `onDone` is run by that thread when there is something to take. */
  void start(String address, long deadline, Runnable onDone) {
    Call begun = new Call();
    call = begun;
    Runnable work =
        () -> {
          Outcome outcome = dial(begun, address, deadline);
          begun.lock.lock();
          try {
            begun.outcome = outcome;
            if (begun.isAbandoned && outcome.link != null) {
              outcome.link.close();
            }
          } finally {
            begun.lock.unlock();
          }
          onDone.run();
        };
    try {
      threads.newThread(work).start();
    } catch (OutOfMemoryError | RuntimeException none) {
      // The system has no thread left, or the program's factory gives none: there may be one at the next try.
      String why = "there is no thread to connect with: " + none.getMessage();
      begun.outcome = new Outcome(null, null, Code.CONNECT_FAILED, why);
    }
  }

  /** What has come of it, if something has; otherwise null. */
  Outcome take() {
    Call begun = call;
    if (begun == null) {
      return null;
    }
    begun.lock.lock();
    try {
      if (begun.outcome != null) {
        call = null;
      }
      return begun.outcome;
    } finally {
      begun.lock.unlock();
    }
  }

  void abandon() {
    Call begun = call;
    call = null;
    if (begun == null) {
      return;
    }
    begun.lock.lock();
    try {
      begun.isAbandoned = true;
      if (begun.channel != null) {
        PlainLink.close(begun.channel);
      }
    } finally {
      begun.lock.unlock();
    }
  }

  private Outcome dial(Call begun, String text, long deadline) {
    String where = text;
    try {
      Address address = Address.parse(text);
      where = address.toString();
      if (address.isDefault() && !Files.exists(address.path())) {
        throw new SpindleException(
            Code.CONNECT_FAILED,
            "no daemon is at " + where + ": is spindled running? Otherwise name its address (ConnectOptions.withAddresses,"
                + " SPINDLE_ADDRESS)");
      }
      String token = Tokens.find(options, address);
      SocketChannel channel = address.isUnix() ? connectUnix(begun, address) : connectTcp(begun, address, deadline);
      try {
        Link link =
            address.isProtected()
                ? TlsLink.open(channel, options, deadline)
                : new PlainLink(channel);
        return new Outcome(link, token, null, null);
      } catch (IOException | RuntimeException failure) {
        PlainLink.close(channel);
        throw failure;
      }
    } catch (SpindleException refused) {
      return new Outcome(null, null, refused.code(), refused.getMessage());
    } catch (Link.ProtectionFailed failure) {
      return new Outcome(null, null, Code.TLS_FAILED, failure.getMessage());
    } catch (SocketTimeoutException late) {
      return new Outcome(null, null, Code.TIMED_OUT, where + ": the daemon did not accept the connection in time");
    } catch (UnknownHostException unknown) {
      return new Outcome(null, null, Code.CONNECT_FAILED, where + ": the name of the host is not known");
    } catch (IOException failure) {
      return new Outcome(null, null, Code.CONNECT_FAILED, where + ": " + failure.getMessage());
    } catch (RuntimeException failure) {
      return new Outcome(null, null, Code.INTERNAL_ERROR, where + ": " + failure);
    }
  }

  private static void begin(Call begun, SocketChannel channel) throws IOException {
    begun.lock.lock();
    try {
      begun.channel = channel;
      if (begun.isAbandoned) {
        channel.close();
      }
    } finally {
      begun.lock.unlock();
    }
  }

  private static SocketChannel connectUnix(Call begun, Address address) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      begin(begun, channel);
      channel.connect(UnixDomainSocketAddress.of(address.path()));
      if (address.isAnybodys()) {
        checkOwner(channel);
      }
      channel.configureBlocking(false);
      return channel;
    } catch (IOException | RuntimeException failure) {
      PlainLink.close(channel);
      throw failure;
    }
  }

  private static void checkOwner(SocketChannel channel) throws IOException {
    String owner = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
    if (!owner.equals("root") && !owner.equals(System.getProperty("user.name"))) {
      throw new IOException(
          "user "
              + owner
              + " listens there, who is neither root nor you, where anybody could; say the path to trust that daemon"
              + " all the same");
    }
  }

  private static SocketChannel connectTcp(Call begun, Address address, long deadline) throws IOException {
    IOException last = null;
    InetAddress[] hosts = InetAddress.getAllByName(address.host());
    for (int i = 0; i < hosts.length; i++) {
      SocketChannel channel = SocketChannel.open();
      try {
        begin(begun, channel);
        // Each has its share of the time, so that one that says nothing leaves some to others.
        int share = (int) Math.min(Clock.millisUntil(deadline) / (hosts.length - i), Integer.MAX_VALUE);
        channel.socket().connect(new InetSocketAddress(hosts[i], address.port()), Math.max(share, 1));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        return channel;
      } catch (IOException failure) {
        PlainLink.close(channel);
        last = failure;
      }
    }
    throw last == null ? new UnknownHostException(address.host()) : last;
  }
}
