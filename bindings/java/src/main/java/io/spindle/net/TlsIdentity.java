package io.spindle.net;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Who a certificate says that its holder is: one URI among its names, "spindle://CLUSTER/KIND/NAME". */
record TlsIdentity(String cluster, String kind, String name) {
  private static final int URI = 6; // the kind of alternative name (RFC 5280, section 4.2.1.6)
  private static final Pattern FORM = Pattern.compile("spindle://([^/]+)/(daemon|client|operator)/([^/]+)");
  private static final Pattern ENCODED = Pattern.compile("(?:[A-Za-z0-9\\-._~*]|%[0-9A-F]{2})+");

  /** Null where it has none, or several. */
  static TlsIdentity of(X509Certificate certificate) throws CertificateException {
    List<TlsIdentity> found = new ArrayList<>();
    Collection<List<?>> names = certificate.getSubjectAlternativeNames();
    for (List<?> each : names == null ? List.<List<?>>of() : names) {
      Matcher parts = (Integer) each.get(0) == URI ? FORM.matcher((String) each.get(1)) : null;
      if (parts != null && parts.matches()) {
        String cluster = decode(parts.group(1));
        String name = decode(parts.group(3));
        if (cluster != null && name != null) {
          found.add(new TlsIdentity(cluster, parts.group(2), name));
        }
      }
    }
    return found.size() == 1 ? found.get(0) : null;
  }

  private static String decode(String text) {
    return ENCODED.matcher(text).matches() ? URLDecoder.decode(text, StandardCharsets.UTF_8) : null;
  }
}
