package io.spindle;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;

/**
 * The program of HundredThousandTest: receives numbered messages, and says how far it has come. What is wrong ends it with
 * another status than 0.
 */
final class StoppedReceiver {
  private static final Object SAYING = new Object();

  private final int messages;
  private int expected;
  private int resumed;

  private StoppedReceiver(int messages) {
    this.messages = messages;
  }

  /** ADDRESS, "thread" or "subscriber", and how many messages. */
  public static void main(String[] arguments) throws Exception {
    StoppedReceiver receiver = new StoppedReceiver(Integer.parseInt(arguments[2]));
    boolean bySubscriber = arguments[1].equals("subscriber");
    ConnectOptions options = ConnectOptions.at(arguments[0]).withName("receiver").withExecutor(Runnable::run);
    try (Connection connection = Spindle.connect(options)) {
      connection.join("den").get();
      say("ready");
      if (bySubscriber) {
        receiver.subscribe(connection);
      } else {
        for (Event event : connection) {
          if (!receiver.take(event)) {
            break;
          }
        }
      }
    }
    say("resumed " + receiver.resumed);
  }

  private static void say(String text) {
    synchronized (SAYING) {
      System.out.println(text);
      System.out.flush();
    }
  }

  /** Whether there is more to come. */
  private boolean take(Event event) {
    if (event instanceof Message message) {
      byte[] payload = message.payload();
      int number = (payload[0] & 0xff) | (payload[1] & 0xff) << 8 | (payload[2] & 0xff) << 16;
      if (number != expected) {
        fail("message " + number + " came instead of " + expected);
      }
      expected++;
      if (expected % (messages / 10) == 0) {
        say("at " + expected);
      }
    } else if (event instanceof Reconnected back && back.resumed()) {
      resumed++;
    } else if (!(event instanceof GroupView) && !(event instanceof QueueWarning)) {
      fail("at " + expected + " there is " + event);
    }
    return expected < messages;
  }

  private static void fail(String text) {
    say(text);
    Runtime.getRuntime().halt(1);
  }

  private void subscribe(Connection connection) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    connection
        .events()
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(Event event) {
                if (done.getCount() != 0 && !take(event)) {
                  done.countDown();
                }
              }

              @Override
              public void onError(Throwable failure) {
                fail(failure.toString());
              }

              @Override
              public void onComplete() {}
            });
    done.await();
  }
}
