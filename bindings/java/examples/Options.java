import io.spindle.ConnectOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the examples share: options with a value each and one word at least, and lines of standard input. */
final class Options {
  private final Map<String, String> values = new HashMap<>(Map.of("connect", "", "name", ""));
  final List<String> words = new ArrayList<>();

  /** `defaults`: names and values of further options. Ends the program where what was said makes no sense. */
  Options(String help, String[] arguments, Map<String, String> defaults) {
    values.putAll(defaults);
    for (int i = 0; i < arguments.length; i++) {
      String word = arguments[i];
      if (word.equals("--help")) {
        System.out.print(help);
        System.exit(0);
      } else if (!word.startsWith("--")) {
        words.add(word);
      } else if (values.containsKey(word.substring(2)) && i + 1 < arguments.length) {
        values.put(word.substring(2), arguments[++i]);
      } else {
        refuse(help);
      }
    }
    if (words.isEmpty()) {
      refuse(help);
    }
  }

  private static void refuse(String help) {
    System.err.print(help);
    System.exit(2);
  }

  String get(String name) {
    return values.get(name);
  }

  int number(String name) {
    return Integer.parseInt(get(name));
  }

  ConnectOptions connect() {
    ConnectOptions options = ConnectOptions.named(get("name"));
    return get("connect").isEmpty() ? options : options.withAddresses(List.of(get("connect")));
  }

  static BufferedReader input() {
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  }

  /** Null at the end of the input. */
  static String line(BufferedReader input) {
    try {
      return input.readLine();
    } catch (IOException gone) {
      return null;
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static void show(String text) {
    System.out.println(text);
  }
}
