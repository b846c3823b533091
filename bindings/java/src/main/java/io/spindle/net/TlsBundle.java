package io.spindle.net;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file of PEM: certificates of CAs, lists of revoked certificates, and a key with its certificate, where it has them. */
final class TlsBundle {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \\1-----", Pattern.DOTALL);

  final List<X509Certificate> authorities = new ArrayList<>();
  final List<X509CRL> revocationLists = new ArrayList<>();
  X509Certificate certificate; // null: none
  PrivateKey key; // likewise

  static TlsBundle read(Path path) throws IOException {
    String text;
    try {
      text = Files.readString(path, StandardCharsets.ISO_8859_1);
    } catch (IOException failure) {
      throw new Link.ProtectionFailed(path + ": it cannot be read (" + failure.getClass().getSimpleName() + ")");
    }
    TlsBundle bundle = new TlsBundle();
    try {
      Matcher block = BLOCK.matcher(text);
      while (block.find()) {
        if (block.group(2).contains("ENCRYPTED")) { // a header of an old form, which is no base64
          throw new GeneralSecurityException(PemKey.ENCRYPTED);
        }
        bundle.add(block.group(1), Base64.getMimeDecoder().decode(block.group(2)));
      }
    } catch (GeneralSecurityException | IllegalArgumentException failure) {
      throw new Link.ProtectionFailed(path + ": " + failure.getMessage()); // never a part of the key
    }
    return bundle;
  }

  private void add(String what, byte[] bytes) throws GeneralSecurityException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    if (what.equals("CERTIFICATE")) {
      addCertificate((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(bytes)));
    } else if (what.equals("X509 CRL")) {
      revocationLists.add((X509CRL) factory.generateCRL(new ByteArrayInputStream(bytes)));
    } else if (what.endsWith("PRIVATE KEY")) {
      if (key != null) {
        throw new GeneralSecurityException("there are two private keys, and one is all that a file may hold");
      }
      key = PemKey.decode(what, bytes);
    }
  }

  private void addCertificate(X509Certificate found) throws GeneralSecurityException {
    if (found.getBasicConstraints() >= 0) {
      authorities.add(found);
    } else if (certificate == null) {
      certificate = found;
    } else {
      throw new GeneralSecurityException("there are two certificates that are no CA's, and one is all that a file may hold");
    }
  }

  static boolean isRoot(X509Certificate authority) {
    return authority.getSubjectX500Principal().equals(authority.getIssuerX500Principal());
  }
}
