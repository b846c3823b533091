package io.spindle.net;

import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.SpindleException;
import java.util.regex.Pattern;

/** Secrets by which clients prove who they are. */
final class Tokens {
  private static final Pattern FORM = Pattern.compile("spindle-token-[0-9a-f]{64}");

  private Tokens() {}

  /** That the client may show there; empty: none. */
  static String find(ConnectOptions options, Address address) {
    boolean isSaid = !options.token().isEmpty();
    String variable = System.getenv("SPINDLE_TOKEN");
    String token = isSaid ? options.token() : variable == null ? "" : variable;
    String source = isSaid ? "ConnectOptions.token" : "SPINDLE_TOKEN";
    if (token.isEmpty()) {
      return token;
    }
    if (!FORM.matcher(token).matches()) {
      throw new SpindleException(
          Code.BAD_ARGUMENT, source + " holds no token; `spmonitor token new` makes one");
    }
    if (!address.isUnix() && !address.isProtected()) {
      throw new SpindleException(
          Code.TOKEN_EXPOSED,
          source
              + " is set, and others could read it on its way to "
              + address
              + ": connect by \"tls:\" or to a unix socket, or without a token");
    }
    return token;
  }
}
