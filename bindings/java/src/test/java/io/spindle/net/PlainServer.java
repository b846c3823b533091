package io.spindle.net;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/** A server with the protocol of a daemon, and a certificate of any kind. It ends each connection once that is served. */
public final class PlainServer implements AutoCloseable {
  /** What it does with a connection once it is protected. */
  public interface Service {
    void serve(Socket client) throws IOException;
  }

  private final SSLServerSocket socket;
  private final Service service;

  public PlainServer(Path path) throws IOException, GeneralSecurityException {
    this(path, client -> {});
  }

  public PlainServer(Path path, Service service) throws IOException, GeneralSecurityException {
    this.service = service;
    TlsBundle bundle = TlsBundle.read(path);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, new char[0]);
    keys.setKeyEntry("own", bundle.key, new char[0], new Certificate[] {bundle.certificate});
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, new char[0]);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(factory.getKeyManagers(), null, null);
    socket = (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"spindle-client/1"});
    socket.setSSLParameters(parameters);
    Thread server = new Thread(this::serve);
    server.setDaemon(true);
    server.start();
  }

  private void serve() {
    while (!socket.isClosed()) {
      try (SSLSocket one = (SSLSocket) socket.accept()) {
        one.startHandshake();
        service.serve(one);
      } catch (IOException refused) {
        // As it is meant to be.
      }
    }
  }

  public int port() {
    return socket.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
