package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.spindle.ConnectOptions;
import io.spindle.Destinations;
import io.spindle.Name;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.TestDaemon;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.PlayedDaemon;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A daemon that says nothing any more is given up while a thread of the program writes. */
final class SilentDaemonTest {
  private static final Name OWN = Name.of("#ann#alpha");

  /** The parts of a connection, without what a program sees. */
  private static final class Parts {
    final ConnectionState state;
    final LinkWriter writer;
    final MessageSender sender;
    final Thread thread;

    Parts(ConnectOptions options) throws IOException {
      Selector selector = Selector.open();
      state = new ConnectionState(options, selector);
      EventQueue events = new EventQueue(options.receiveBufferBytes(), selector::wakeup, () -> {});
      writer = new LinkWriter(state);
      sender = new MessageSender(state, writer, events);
      writer.tell(sender::noteWritten);
      FeedCalls feeds = new FeedCalls(state, writer, events);
      EventDelivery delivery = new EventDelivery(state, writer, sender, feeds, events);
      LinkKeeper keeper = new LinkKeeper(state, writer, delivery, Thread::new);
      thread = new Thread(new ConnectionThread(state, writer, keeper, delivery, sender, feeds, events)::run);
      thread.setDaemon(true);
      state.setThread(thread);
    }

    void connect() {
      state.locked(
          () -> {
            state.beginConnecting();
            thread.start();
            return state.waitFor(ClientSession.NEVER, () -> state.connectUntil() == ClientSession.NEVER);
          });
    }

    void send(int payload) {
      sender.multicast(
          Service.AGREED, Destinations.of("den"), new byte[] {(byte) payload}, 0, 1, SendOptions.DEFAULT);
    }

    /** Whether the connection's thread waits for whoever writes. */
    boolean waits() {
      return Arrays.stream(thread.getStackTrace()).anyMatch(at -> at.getMethodName().equals("awaitUninterruptibly"));
    }

    void close() throws InterruptedException {
      state.locked(
          () -> {
            state.beginClosing(Clock.now());
            return null;
          });
      thread.join();
    }
  }

  /** A thread that has written to it comes back from that only when it is let. */
  private static final class SlowLink implements Link {
    final Link inner;
    final Thread slowed;
    final CountDownLatch goesOn = new CountDownLatch(1);

    SlowLink(Link inner, Thread slowed) {
      this.inner = inner;
      this.slowed = slowed;
    }

    @Override
    public SocketChannel channel() {
      return inner.channel();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return inner.read(into);
    }

    @Override
    public boolean readsDirectly() {
      return inner.readsDirectly();
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      int count = inner.write(from);
      if (Thread.currentThread() == slowed) {
        try {
          goesOn.await();
        } catch (InterruptedException interrupt) {
          throw new IOException(interrupt);
        }
      }
      return count;
    }

    @Override
    public void finishWriting() {
      inner.finishWriting();
    }

    @Override
    public void stopWriting() {
      inner.stopWriting();
    }

    @Override
    public void shutDown() {
      inner.shutDown();
    }

    @Override
    public void close() {
      inner.close();
    }
  }

  private static void serve(
      ServerSocket server,
      CompletableFuture<Byte> first,
      CompletableFuture<Void> again,
      CompletableFuture<Byte> second) {
    try (Socket one = server.accept()) {
      first.complete(PlayedDaemon.awaitMessage(one, OWN));
      try (Socket other = server.accept()) {
        again.complete(null);
        second.complete(PlayedDaemon.awaitMessage(other, OWN));
      }
    } catch (IOException failure) {
      first.completeExceptionally(failure);
      second.completeExceptionally(failure);
    }
  }

  @Test
  void whatWasBeingWrittenIsNotSentAgain() throws Exception {
    CompletableFuture<Byte> first = new CompletableFuture<>();
    CompletableFuture<Void> again = new CompletableFuture<>();
    CompletableFuture<Byte> second = new CompletableFuture<>();
    try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      Thread daemon = new Thread(() -> serve(server, first, again, second));
      daemon.start();
      ConnectOptions options =
          ConnectOptions.at("tcp:127.0.0.1:" + server.getLocalPort()).withKeepalive(Duration.ofMillis(20));
      Parts ann = new Parts(options);
      ann.connect();
      Thread program = new Thread(() -> ann.send(1));
      SlowLink slow = new SlowLink(ann.writer.link(), program);
      ann.state.locked(
          () -> {
            ann.writer.awaitWriter();
            ann.writer.begin(slow);
            return null;
          });
      program.start();
      assertEquals((byte) 1, first.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS));
      while (!ann.waits() && !again.isDone()) {
        Thread.onSpinWait();
      }
      slow.goesOn.countDown();
      program.join();
      again.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS);
      ann.send(2);
      assertEquals((byte) 2, second.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS));
      ann.close();
      daemon.join();
    }
  }
}
