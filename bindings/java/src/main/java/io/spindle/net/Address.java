package io.spindle.net;

import io.spindle.Code;
import io.spindle.SpindleException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a daemon is: a path, or a host and a port.
 *
 * @param path of a unix socket; null: TCP
 * @param isDefault nobody has said a path
 * @param isAnybodys anybody could listen there: only a daemon of root's or of the own user is trusted
 */
record Address(Path path, String host, int port, boolean isProtected, boolean isDefault, boolean isAnybodys) {
  private static final int DEFAULT_PORT = 4803;
  private static final int PATH_BYTES_MAX = 107;
  private static final String SOCKET_NAME = "spindle.4803";
  private static final Path ANYBODYS = Path.of("/tmp");

  boolean isUnix() {
    return path != null;
  }

  /** Empty: what the environment says, or else the socket of a daemon of this host. */
  static Address parse(String text) {
    String said = text;
    if (said.isEmpty()) {
      String variable = System.getenv("SPINDLE_ADDRESS");
      said = variable == null ? "" : variable;
    }
    if (said.isEmpty()) {
      return findDefault();
    }
    if (said.startsWith("unix:") || said.startsWith("/")) {
      String path = said.startsWith("/") ? said : said.substring("unix:".length());
      if (path.isEmpty() || path.getBytes(StandardCharsets.UTF_8).length > PATH_BYTES_MAX) {
        throw bad(text);
      }
      return new Address(Path.of(path), null, 0, false, false, false);
    }
    boolean isProtected = said.startsWith("tls:");
    String rest = isProtected || said.startsWith("tcp:") ? said.substring("tls:".length()) : said;
    return parseTcp(text, rest, isProtected);
  }

  private static Address parseTcp(String text, String rest, boolean isProtected) {
    String host = rest;
    String port = null;
    if (rest.startsWith("[")) {
      int close = rest.indexOf(']');
      if (close < 0 || (close + 1 < rest.length() && rest.charAt(close + 1) != ':')) {
        throw bad(text);
      }
      host = rest.substring(1, close);
      port = close + 1 < rest.length() ? rest.substring(close + 2) : null;
    } else if (rest.indexOf(':') >= 0) {
      host = rest.substring(0, rest.indexOf(':'));
      port = rest.substring(rest.indexOf(':') + 1);
    }
    int number = DEFAULT_PORT;
    if (port != null) {
      if (!port.matches("[0-9]{1,5}")) {
        throw bad(text);
      }
      number = Integer.parseInt(port);
    }
    if (host.isEmpty() || number < 1 || number > 65_535) {
      throw bad(text);
    }
    return new Address(null, host, number, isProtected, false, false);
  }

  private static SpindleException bad(String text) {
    return new SpindleException(Code.BAD_ADDRESS, "\"" + text + "\" is no address");
  }

  private static List<Path> defaultPlaces() {
    List<Path> folders = new ArrayList<>();
    folders.add(Path.of("/run/spindle"));
    String user = System.getenv("XDG_RUNTIME_DIR");
    if (user != null && user.startsWith("/") && !"root".equals(System.getProperty("user.name"))) {
      folders.add(Path.of(user));
    }
    folders.add(ANYBODYS);
    List<Path> places = new ArrayList<>();
    for (Path folder : folders) {
      if (folder == ANYBODYS || Files.isDirectory(folder)) {
        places.add(folder.resolve(SOCKET_NAME));
      }
    }
    return places;
  }

  private static Address findDefault() {
    List<Path> places = defaultPlaces();
    Path found = places.get(places.size() - 1);
    for (int i = places.size() - 1; i >= 0; i--) {
      if (Files.exists(places.get(i)) && !Files.isRegularFile(places.get(i), LinkOption.NOFOLLOW_LINKS)) {
        found = places.get(i);
      }
    }
    return new Address(found, null, 0, false, true, found.startsWith(ANYBODYS));
  }

  /** For people who look for it. */
  @Override
  public String toString() {
    if (!isUnix()) {
      return host + ":" + port;
    }
    if (!isDefault || Files.exists(path)) {
      return path.toString();
    }
    return String.join(" or ", defaultPlaces().stream().map(Path::toString).toList());
  }
}
