package io.spindle.net;

import io.spindle.ConnectOptions;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CRL;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * TLS as daemons and clients of Spindle have it: TLS 1.3, and certificates that say who their holder is. A daemon's is
 * signed by a CA certificate of the bundle, valid, not revoked, for serverAuth, names a daemon, and is of the cluster that
 * the client's own is of.
 */
final class TlsContext {
  private static final String PROTOCOL = "spindle-client/1";
  private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
  private static final char[] NO_PASSWORD = {};

  private final SSLContext context;
  private final String cluster; // of this side's certificate; null: none

  private TlsContext(SSLContext context, String cluster) {
    this.context = context;
    this.cluster = cluster;
  }

  static TlsContext of(ConnectOptions options) throws IOException {
    if (options.sslContext() != null) {
      return new TlsContext(options.sslContext(), null);
    }
    Path path = saidOrInEnvironment(options.tlsBundle(), "SPINDLE_TLS_BUNDLE");
    if (path == null) {
      throw new Link.ProtectionFailed(
          "\"tls:\" needs a file with the CA certificate of the cluster: ConnectOptions.tlsBundle, or"
              + " SPINDLE_TLS_BUNDLE");
    }
    TlsBundle bundle = TlsBundle.read(path);
    List<X509CRL> lists = new ArrayList<>(bundle.revocationLists);
    Path listsPath = saidOrInEnvironment(options.tlsRevocationLists(), "SPINDLE_REVOCATION_LISTS");
    if (listsPath != null) {
      List<X509CRL> read = TlsBundle.read(listsPath).revocationLists;
      if (read.isEmpty()) { // such as one that is being copied: without lists nobody would be revoked
        throw new Link.ProtectionFailed(listsPath + ": there are no lists of revoked certificates in it");
      }
      lists.addAll(read);
    }
    try {
      return make(bundle, lists);
    } catch (GeneralSecurityException failure) {
      throw new Link.ProtectionFailed(path + ": " + failure.getMessage());
    }
  }

  private static Path saidOrInEnvironment(Path said, String variable) {
    String value = said == null ? System.getenv(variable) : null;
    return value == null || value.isEmpty() ? said : Path.of(value);
  }

  private static TlsContext make(TlsBundle bundle, List<X509CRL> lists) throws GeneralSecurityException, IOException {
    if (bundle.authorities.isEmpty()) {
      throw new GeneralSecurityException("there is no CA certificate in it");
    }
    if ((bundle.key == null) != (bundle.certificate == null)) {
      throw new GeneralSecurityException("there is a key without a certificate, or a certificate without a key");
    }
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(keysOf(bundle), new TrustManager[] {new DaemonTrust(bundle.authorities, lists)}, null);
    TlsIdentity own = bundle.certificate == null ? null : TlsIdentity.of(bundle.certificate);
    if (bundle.certificate != null && own == null) {
      throw new GeneralSecurityException(
          "the certificate has no name of Spindle, \"spindle://CLUSTER/KIND/NAME\", or several");
    }
    return new TlsContext(context, own == null ? null : own.cluster());
  }

  private static KeyManager[] keysOf(TlsBundle bundle) throws GeneralSecurityException, IOException {
    if (bundle.key == null) {
      return new KeyManager[0];
    }
    List<Certificate> chain = new ArrayList<>(List.of(bundle.certificate));
    bundle.authorities.stream().filter(each -> !TlsBundle.isRoot(each)).forEach(chain::add);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, NO_PASSWORD);
    keys.setKeyEntry("own", bundle.key, NO_PASSWORD, chain.toArray(new Certificate[0]));
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  SSLEngine makeEngine() {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(new String[] {"TLSv1.3"});
    parameters.setApplicationProtocols(new String[] {PROTOCOL});
    engine.setSSLParameters(parameters);
    return engine;
  }

  /** Holds the other side to what it has to be, once the handshake is done. */
  void check(SSLEngine engine) throws IOException {
    if (!PROTOCOL.equals(engine.getApplicationProtocol())) {
      throw new Link.ProtectionFailed("the other side does not speak the protocol of Spindle's clients");
    }
    try {
      X509Certificate certificate = (X509Certificate) engine.getSession().getPeerCertificates()[0];
      TlsIdentity identity = TlsIdentity.of(certificate);
      List<String> uses = certificate.getExtendedKeyUsage();
      if (identity == null) {
        throw new Link.ProtectionFailed("the peer's certificate has no name of Spindle, or several");
      }
      if (cluster != null && !cluster.equals(identity.cluster())) {
        throw new Link.ProtectionFailed("the peer's certificate is of another cluster");
      }
      if (!identity.kind().equals("daemon") || uses == null || !uses.contains(SERVER_AUTH)) {
        throw new Link.ProtectionFailed("the peer's certificate is for another purpose");
      }
    } catch (CertificateException failure) {
      throw new Link.ProtectionFailed("the peer's certificate is not acceptable: " + failure.getMessage());
    }
  }

  /** Signed by one of the CAs, valid, and in none of the lists. */
  private static final class DaemonTrust extends X509ExtendedTrustManager {
    private final X509TrustManager path;
    private final List<X509Certificate> authorities;
    private final List<X509CRL> lists;

    DaemonTrust(List<X509Certificate> authorities, List<X509CRL> lists) throws GeneralSecurityException {
      this.authorities = authorities;
      this.lists = lists;
      Set<TrustAnchor> anchors = new HashSet<>();
      authorities.stream().filter(TlsBundle::isRoot).forEach(each -> anchors.add(new TrustAnchor(each, null)));
      if (anchors.isEmpty()) {
        throw new GeneralSecurityException("there is no root among its CA certificates");
      }
      PKIXBuilderParameters parameters = new PKIXBuilderParameters(anchors, new X509CertSelector());
      parameters.setRevocationEnabled(false); // lists are looked at below: one that is missing is no reason to refuse
      parameters.addCertStore(
          CertStore.getInstance("Collection", new CollectionCertStoreParameters(authorities)));
      TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
      factory.init(new CertPathTrustManagerParameters(parameters));
      path = (X509TrustManager) factory.getTrustManagers()[0];
    }

    private void check(X509Certificate[] chain, String type) throws CertificateException {
      path.checkServerTrusted(chain, type);
      for (X509CRL list : lists) {
        if (isOfIssuer(list, chain[0]) && list.isRevoked(chain[0])) {
          throw new CertificateException("the peer's certificate is revoked");
        }
      }
    }

    /** Whether the list is that of the certificate's CA. */
    private boolean isOfIssuer(X509CRL list, X509Certificate certificate) {
      if (!list.getIssuerX500Principal().equals(certificate.getIssuerX500Principal())) {
        return false;
      }
      for (X509Certificate authority : authorities) {
        try {
          list.verify(authority.getPublicKey());
          return true;
        } catch (GeneralSecurityException other) {
          // Signed by another one.
        }
      }
      return false;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
      check(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
      check(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
      throw new CertificateException("this is no server");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
      checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return authorities.toArray(new X509Certificate[0]);
    }
  }

  /** What an exception of TLS means, in words. */
  static String explain(IOException failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof CertPathValidatorException invalid) {
        return "the peer's certificate is not acceptable: " + invalid.getMessage();
      }
      if (each instanceof CertificateException refused && refused.getCause() == null) {
        return refused.getMessage();
      }
    }
    return failure.getMessage();
  }
}
