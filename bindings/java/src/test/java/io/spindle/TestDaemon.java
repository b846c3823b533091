package io.spindle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A spindled of a test's own. */
public final class TestDaemon implements AutoCloseable {
  public static final long PATIENCE_S = 30;

  private final Path folder;
  private final Process process;
  private final String ready;

  private TestDaemon(Path folder, Process process, String ready) {
    this.folder = folder;
    this.process = process;
    this.ready = ready;
  }

  public static Path build() {
    return Path.of(System.getProperty("spindle.build"));
  }

  /** A folder with a short name, as paths of sockets have to be. */
  public static Path newFolder() throws IOException {
    return Files.createTempDirectory(Path.of("/tmp"), "jv-");
  }

  public static TestDaemon start() throws IOException {
    return start(newFolder(), "127.0.0.1:0", "");
  }

  /** `clients`: where it listens beside its socket; `more`: further sections of its configuration. */
  public static TestDaemon start(Path folder, String clients, String more) throws IOException {
    String text =
        String.join(
                "\n",
                "[daemon]",
                "name = \"a\"",
                more.startsWith("cluster") ? more.lines().findFirst().orElse("") : "",
                "[listen]",
                "clients = [\"" + clients + "\"]",
                "client_socket = \"" + folder + "/a.sock\"",
                "admin_socket = \"" + folder + "/a.admin\"",
                "links = [\"127.0.0.1:0\"]",
                more.startsWith("cluster") ? more.substring(more.indexOf('\n') + 1) : more)
            + "\n";
    Files.writeString(folder.resolve("a.toml"), text);
    // It ends with the tests, even where these are killed.
    List<String> command =
        List.of("setpriv", "--pdeathsig", "KILL", build() + "/spindled", "--config", folder + "/a.toml");
    Process process = new ProcessBuilder(command).redirectError(folder.resolve("a.log").toFile()).start();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String ready = lines.readLine();
    if (ready == null || !ready.startsWith("ready: ")) {
      throw new IOException("the daemon does not start:\n" + Files.readString(folder.resolve("a.log")));
    }
    return new TestDaemon(folder, process, ready);
  }

  public String address() {
    return "unix:" + folder + "/a.sock";
  }

  /** Host and port. */
  public String tcpAddress() {
    String behind = ready.substring(ready.indexOf("clients at ") + "clients at ".length());
    String[] words = behind.substring(0, behind.indexOf(';')).trim().split(" ");
    return words[words.length - 1];
  }

  public Connection connect(String name) {
    return Spindle.connect(options(name));
  }

  public ConnectOptions options(String name) {
    return ConnectOptions.at(address()).withName(name);
  }

  /** "STOP" or "CONT". */
  public void signal(String name) throws IOException {
    signal(process, name);
  }

  static void signal(Process process, String name) throws IOException {
    try {
      int status = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
      if (status != 0) {
        throw new IOException("kill ends with status " + status);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  public void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      process.waitFor(PATIENCE_S, TimeUnit.SECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
