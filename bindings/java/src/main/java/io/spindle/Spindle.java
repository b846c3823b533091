package io.spindle;

import io.spindle.net.SocketConnection;

/** Where connections are made. */
public final class Spindle {
  private Spindle() {}

  /**
   * Connects to a daemon, and waits for its welcome.
   *
   * @param options which daemon, and how
   * @return the connection
   * @throws SpindleException BAD_ADDRESS, BAD_CLIENT_NAME, BAD_ARGUMENT for what is no token, TOKEN_EXPOSED,
   *     CONNECT_FAILED, TLS_FAILED, TIMED_OUT, or the reason that the daemon gave
   */
  public static Connection connect(ConnectOptions options) {
    return SocketConnection.open(options);
  }

  /**
   * Connects to the daemon of this host, or to what SPINDLE_ADDRESS says.
   *
   * @return the connection
   * @throws SpindleException as the other form
   */
  public static Connection connect() {
    return connect(ConnectOptions.DEFAULT);
  }
}
