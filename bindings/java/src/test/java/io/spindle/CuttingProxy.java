package io.spindle;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Passes bytes on between clients and a daemon, and closes connections when it is told to. */
final class CuttingProxy implements AutoCloseable {
  private final ServerSocket server;
  private final String host;
  private final int port;
  private final List<Socket> sockets = new ArrayList<>();

  /** `address`: host and port, whatever stands in front of them. */
  CuttingProxy(String address) throws IOException {
    String[] parts = address.split(":");
    host = parts[parts.length - 2];
    port = Integer.parseInt(parts[parts.length - 1]);
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    begin(this::accept);
  }

  private static void begin(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  String address() {
    return "127.0.0.1:" + server.getLocalPort();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket daemon = new Socket(host, port);
        synchronized (sockets) {
          sockets.add(client);
          sockets.add(daemon);
        }
        begin(() -> pass(client, daemon));
        begin(() -> pass(daemon, client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private static void pass(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[8192];
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        out.write(bytes, 0, count);
      }
    } catch (IOException cut) {
      // Both are closed.
    }
  }

  /** Ends the connections that there are. */
  void cut() throws IOException {
    synchronized (sockets) {
      for (Socket each : sockets) {
        each.close();
      }
      sockets.clear();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }
}
